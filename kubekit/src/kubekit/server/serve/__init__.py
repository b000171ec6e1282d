"""The server on the network: URLs, bodies, answers."""
