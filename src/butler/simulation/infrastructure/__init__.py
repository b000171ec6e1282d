"""Stand-in for the Cluster API provider of a simulated data centre."""
