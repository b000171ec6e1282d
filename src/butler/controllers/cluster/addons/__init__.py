"""What is installed inside a cluster: how far it is, and the hands that do it."""
