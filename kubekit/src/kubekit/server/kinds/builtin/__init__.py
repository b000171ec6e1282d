"""The kinds Kubernetes itself brings."""
