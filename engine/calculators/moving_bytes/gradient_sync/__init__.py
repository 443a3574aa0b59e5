"""Gradient sync lab."""
