"""Talking to a Kubernetes API."""
