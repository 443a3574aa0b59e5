"""Path A: a single GPU."""
