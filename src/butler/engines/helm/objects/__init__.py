"""The objects of a release, read by our own client: what it declares, what is there, and how that is doing."""
