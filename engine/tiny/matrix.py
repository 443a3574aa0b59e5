"""Lists of rows: the few operations that a transformer in plain floats needs.

Sums of products are rounded once, by `fsum`: Python 3.12 changed how `sum` rounds floats, and a
training gives the same numbers on every Python, in the browser too.
"""

from collections.abc import Iterable, Sequence
from math import fsum
from operator import add as plus
from operator import mul

Vector = list[float]
Matrix = list[Vector]


def product(left: Matrix, right: Matrix) -> Matrix:
    """Return left [n, k] times right [k, m]: [n, m]."""
    columns = list(zip(*right, strict=True))
    return [[fsum(map(mul, row, column)) for column in columns] for row in left]


def product_transposed(left: Matrix, right: Matrix) -> Matrix:
    """Return left [n, k] times the transpose of right [m, k]: [n, m]."""
    return [[fsum(map(mul, row, other)) for other in right] for row in left]


def transposed_product(left: Matrix, right: Matrix) -> Matrix:
    """Return the transpose of left [n, k] times right [n, m]: [k, m]."""
    columns = list(zip(*right, strict=True))
    return [[fsum(map(mul, row, column)) for column in columns] for row in zip(*left, strict=True)]


def add(left: Matrix, right: Matrix) -> Matrix:
    """Return the sum of two matrices of one shape."""
    return [add_vectors(row, other_row) for row, other_row in zip(left, right, strict=True)]


def add_vectors(left: Sequence[float], right: Sequence[float]) -> Vector:
    """Return the sum of two vectors of one length."""
    if len(left) != len(right):
        raise ValueError(f"vectors of {len(left)} and {len(right)} numbers cannot be added")
    return list(map(plus, left, right))


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the inner product of two vectors."""
    return fsum(map(mul, left, right))


def select_columns(matrix: Matrix, chosen: slice) -> Matrix:
    """Return some columns of a matrix."""
    return [row[chosen] for row in matrix]


def flatten_rows(matrix: Iterable[Sequence[float]]) -> Vector:
    """Return the rows end to end."""
    return [number for row in matrix for number in row]


def split_rows(vector: Sequence[float], width: int) -> Matrix:
    """Return a vector cut into rows of `width`."""
    return [list(vector[start : start + width]) for start in range(0, len(vector), width)]


def zeros(rows: int, columns: int) -> Matrix:
    """Return a matrix of zeros."""
    return [[0.0] * columns for _ in range(rows)]
