"""Stand-in for Kamaji and its Cluster API provider."""
