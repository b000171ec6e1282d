"""Kinds about the cluster itself: namespaces, nodes, rights, admission, quotas, devices."""
