"""Computation beside communication."""
