"""The calculators, in rooms."""
