"""Kinds by which data is kept."""
