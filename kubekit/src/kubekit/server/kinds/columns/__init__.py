"""What `kubectl get` shows of built-in kinds."""
