"""Collectives at scale."""
