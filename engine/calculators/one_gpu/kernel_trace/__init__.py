"""A trace of one layer."""
