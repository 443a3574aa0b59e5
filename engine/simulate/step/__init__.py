"""A training step: its time, its range, its traffic by axis."""
