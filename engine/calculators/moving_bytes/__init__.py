"""Path B: moving bytes."""
