"""Counter decoder."""
