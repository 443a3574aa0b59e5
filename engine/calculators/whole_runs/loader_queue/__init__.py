"""Loader queue."""
