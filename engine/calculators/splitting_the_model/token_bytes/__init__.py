"""Bytes of a forward pass."""
