"""Formulas of queueing theory."""
