"""Scales for narrow formats."""
