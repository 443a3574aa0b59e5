"""A training log against the job it came from."""
