"""Parallelism modeler."""
