"""Kamaji: control planes that run as pods of the management cluster."""
