"""Job time."""
