"""Formula sheet."""
