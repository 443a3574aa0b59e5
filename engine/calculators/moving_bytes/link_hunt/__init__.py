"""Hunt for a bad link."""
