"""Real programs that tests and benchmarks run against, built from pinned Go modules into a cache."""
