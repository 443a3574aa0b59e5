"""The last of many flows."""
