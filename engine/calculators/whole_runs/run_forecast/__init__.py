"""Run forecast."""
