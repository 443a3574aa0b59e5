"""Matrices of a mixer: parameters that follow from their shapes.

A matrix is (name, outputs, inputs, split): tensor parallelism splits the outputs (True), the
inputs (False), or neither (None).
"""

from collections.abc import Callable
from typing import Any

from engine.core.units import Bytes, Count, Parameters, Ratio, Seconds

Matrix = tuple[str, Count, Count, bool | None]
Split = tuple[Parameters, Parameters]  # over heads, and on every rank
PassTimes = tuple[Seconds, Seconds]  # forward, backward

HALF: Bytes = 2.0
SINGLE: Bytes = 4.0
MULTIPLY_ADD: Ratio = 2.0


def matrix_products(
    make: Callable[..., Any], matrices: tuple[Matrix, ...], sizes: tuple[Ratio, Ratio, Count]
) -> tuple[Any, ...]:
    """Return the products with matrices on one rank, each by `make` (name, m, n, k).

    `sizes` are the tokens of the rank, those of its own, and the ranks of tensor parallelism. What
    no rank splits runs on a rank's own tokens, where sequence parallelism gives it some.
    """
    tokens, own_tokens, tensor = sizes
    return tuple(
        make(
            name=name,
            m=own_tokens if split is None else tokens,
            n=rows / tensor if split else rows,
            k=columns / tensor if split is False else columns,
        )
        for name, rows, columns, split in matrices
    )


def matrix_elements(matrices: tuple[Matrix, ...]) -> Split:
    """Return the elements of matrices: (split by tensor parallelism, on every rank)."""
    split = sum(rows * columns for _, rows, columns, how in matrices if how is not None)
    whole = sum(rows * columns for _, rows, columns, how in matrices if how is None)
    return split, whole
