"""What a ProviderConfig says about one infrastructure: a module for each."""
