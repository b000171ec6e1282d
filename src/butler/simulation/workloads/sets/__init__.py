"""Pods in numbers: Deployments, StatefulSets, DaemonSets."""
