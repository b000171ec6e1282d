"""Bringing out what can be read of a damaged database, page by page, without SQLite."""
