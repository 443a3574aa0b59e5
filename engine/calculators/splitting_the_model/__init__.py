"""Path D: splitting the model."""
