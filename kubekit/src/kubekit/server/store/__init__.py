"""Where objects are kept: SQLite, every version of every object until it is compacted."""
