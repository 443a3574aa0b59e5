"""Failure lives: simulated runs of a job with failures."""
