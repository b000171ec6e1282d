"""The way of a request: decoded, completed, checked, admitted, stored, watched."""
