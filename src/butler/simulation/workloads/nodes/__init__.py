"""Where pods run: the scheduler and the kubelets."""
