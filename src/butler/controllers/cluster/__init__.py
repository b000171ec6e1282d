"""TenantCluster: the steps from a request to a running cluster."""

from .reconciler import TenantClusters

__all__ = ["TenantClusters"]
