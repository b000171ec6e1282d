"""What Butler drives: Cluster API, Kamaji, Helm; each as far as Butler needs it."""
