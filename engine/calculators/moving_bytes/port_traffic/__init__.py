"""Port traffic."""
