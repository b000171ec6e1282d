"""The HTTP face of the server: URLs, bodies, answers."""
