"""Published runs."""
