"""A reader's measurements against the model."""
