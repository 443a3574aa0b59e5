"""Measurements of a cluster as the constants of every prediction."""
