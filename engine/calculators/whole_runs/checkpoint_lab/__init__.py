"""Checkpoint lab."""
