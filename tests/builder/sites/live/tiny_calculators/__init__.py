"""Calculators of the tiny site."""
