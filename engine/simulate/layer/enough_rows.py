"""Rows from which a matrix product is compute-bound."""

import math

from engine.core.units import Bandwidth, Bytes, FlopRate, Ratio
from engine.formulas.roofline import MULTIPLY_ADD, ridge


def compute_bound_rows(
    columns: Ratio, inner: Ratio, element: Bytes, peak: FlopRate, bandwidth: Bandwidth
) -> Ratio:
    """Return the rows from which a product is compute-bound; infinite if it never is.

    `product_operations` over `product_bytes` equal to the ridge, solved for the rows; all elements
    have one size. A weight with a side below half the ridge times that size never gets there.
    """
    balance = ridge(peak, bandwidth) * element / MULTIPLY_ADD
    left = columns * inner - balance * (columns + inner)
    return balance * columns * inner / left if left > 0 else math.inf
