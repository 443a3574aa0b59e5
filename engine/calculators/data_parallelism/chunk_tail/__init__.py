"""The exposed tail."""
