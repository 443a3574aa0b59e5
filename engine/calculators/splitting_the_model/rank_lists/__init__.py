"""Rank lists."""
