"""What one token costs."""
