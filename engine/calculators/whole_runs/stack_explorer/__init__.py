"""The stack explorer."""
