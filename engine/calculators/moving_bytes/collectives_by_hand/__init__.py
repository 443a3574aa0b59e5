"""Collectives by hand."""
