"""Pipelines: a schedule played, and what is measured on it."""
