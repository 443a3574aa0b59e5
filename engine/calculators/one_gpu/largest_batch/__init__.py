"""The largest micro-batch."""
