"""Machines of Tinycloud, a cloud that does not exist."""
