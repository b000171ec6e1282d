"""An API server in one process, Kubernetes-compatible and durable."""
