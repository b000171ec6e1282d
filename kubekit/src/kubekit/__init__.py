"""Kubernetes for Python: a client, a controller runtime, an API server, and the means to test on them."""

__version__ = "0.1.0"
