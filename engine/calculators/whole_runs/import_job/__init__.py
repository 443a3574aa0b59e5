"""A reader's own configuration, read and answered."""
