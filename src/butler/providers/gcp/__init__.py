"""Machines of Google Cloud's Compute Engine."""
