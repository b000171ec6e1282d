"""Microsoft Azure, by the REST API of its Resource Manager."""
