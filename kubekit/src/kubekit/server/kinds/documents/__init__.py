"""What clients are told about an API before they use it."""
