"""A published waterfall."""
