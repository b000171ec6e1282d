"""Stand-ins: controllers that do what programs of others do in a real platform, and see nothing but the API."""
