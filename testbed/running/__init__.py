"""How servers and programs are started for tests and benchmarks."""
