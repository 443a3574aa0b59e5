"""Matrices of a mixer: parameters that follow from their shapes.

A matrix is (name, outputs, inputs, split): tensor parallelism splits the outputs (True), the
inputs (False), or neither (None).
"""

from engine.core.units import Bytes, Count, Parameters, Ratio, Seconds

Matrix = tuple[str, Count, Count, bool | None]
Split = tuple[Parameters, Parameters]  # over heads, and on every rank
PassTimes = tuple[Seconds, Seconds]  # forward, backward

HALF: Bytes = 2.0
SINGLE: Bytes = 4.0
MULTIPLY_ADD: Ratio = 2.0


def matrix_elements(matrices: tuple[Matrix, ...]) -> Split:
    """Return the elements of matrices: (split by tensor parallelism, on every rank)."""
    split = sum(rows * columns for _, rows, columns, how in matrices if how is not None)
    whole = sum(rows * columns for _, rows, columns, how in matrices if how is None)
    return split, whole
