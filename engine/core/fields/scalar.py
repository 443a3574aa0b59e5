"""The type of an input value."""

Scalar = float | int | str | bool
