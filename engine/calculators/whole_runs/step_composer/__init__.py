"""The step composer."""
