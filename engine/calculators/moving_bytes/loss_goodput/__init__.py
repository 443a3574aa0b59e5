"""Goodput of a port that loses packets."""
