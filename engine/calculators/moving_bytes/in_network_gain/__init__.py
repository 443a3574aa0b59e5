"""Sums in the switch."""
