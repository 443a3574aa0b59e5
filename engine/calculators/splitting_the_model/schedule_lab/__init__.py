"""Schedule lab."""
