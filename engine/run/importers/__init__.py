"""Configurations of training software and published models, read as runs."""
