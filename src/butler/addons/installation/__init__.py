"""What bringing an addon into a cluster consists of, beside Helm."""
