"""Hierarchical sharding, part by part."""
