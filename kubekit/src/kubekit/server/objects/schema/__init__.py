"""Schemas of stored objects: what fields there are, what they may hold, what they default to."""
