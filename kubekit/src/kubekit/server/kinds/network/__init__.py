"""Kinds by which pods are reached."""
