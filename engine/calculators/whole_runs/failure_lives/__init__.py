"""Failure lives."""
