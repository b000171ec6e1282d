"""What makes a tenant's API feel alive: the workload controllers, a scheduler and kubelets that run nothing."""
