"""Isolated APIs in one server, each complete."""
