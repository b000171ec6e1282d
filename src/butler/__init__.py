"""Butler: Kubernetes-as-a-Service for organisations that run many clusters."""

__version__ = "0.1.0"
