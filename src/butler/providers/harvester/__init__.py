"""Virtual machines of Harvester, by its Kubernetes API."""
