"""TenantCluster: the steps from a request to a running cluster."""
