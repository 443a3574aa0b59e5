"""Calculators about lines."""
