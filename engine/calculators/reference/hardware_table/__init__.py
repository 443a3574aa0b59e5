"""Hardware table."""
