"""Machines of Cluster API: from bootstrap data to a node, and their end."""
