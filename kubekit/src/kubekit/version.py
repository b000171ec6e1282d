"""Which kubekit this is; known to all, and knowing nobody."""

__version__ = "0.1.0"
