"""The roofline of a GPU."""
