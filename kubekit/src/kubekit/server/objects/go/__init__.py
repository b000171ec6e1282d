"""Texts as Go reads and writes them."""
