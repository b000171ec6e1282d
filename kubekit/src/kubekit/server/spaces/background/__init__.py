"""What the server does by itself: in Kubernetes these are parts of the controller manager."""
