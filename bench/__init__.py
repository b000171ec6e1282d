"""Benchmarks: what the embedded API server does, next to a real kube-apiserver in the same run."""
