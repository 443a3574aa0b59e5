"""What an input holds."""

Scalar = float | int | str | bool
