"""Pods, and pods inside the templates of others."""
