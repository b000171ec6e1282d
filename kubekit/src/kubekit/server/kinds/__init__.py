"""What an API offers: the kinds Kubernetes brings, those that people define, and what is told about them."""
