"""Means to test controllers: an API in memory, a deterministic loop, faults."""
