"""Log check: a training log against its job's prediction."""
