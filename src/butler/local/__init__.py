"""A whole platform on one computer."""
