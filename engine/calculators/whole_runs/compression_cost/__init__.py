"""What compression costs."""
