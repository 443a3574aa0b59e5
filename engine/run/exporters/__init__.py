"""A run as the configuration of training software."""
