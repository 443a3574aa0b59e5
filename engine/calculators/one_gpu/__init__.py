"""Path A: one GPU."""
