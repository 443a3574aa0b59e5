"""Hierarchical sharding at real scale."""
