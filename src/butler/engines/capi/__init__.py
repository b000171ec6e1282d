"""Cluster API: worker machines."""
