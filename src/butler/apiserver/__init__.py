"""The embedded, durable, Kubernetes-compatible API server."""
