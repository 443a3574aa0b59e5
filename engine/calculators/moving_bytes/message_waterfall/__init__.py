"""Message waterfall."""
