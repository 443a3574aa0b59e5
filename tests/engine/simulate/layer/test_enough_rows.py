"""The rows from which a product is compute-bound, put back into its intensity."""

import math

import pytest

from engine.core.units import TB, TERA
from engine.formulas.roofline import intensity, product_bytes, product_operations, ridge
from engine.simulate.layer.enough_rows import compute_bound_rows

H100 = 989 * TERA, 3.35 * TB


@pytest.mark.parametrize(("columns", "inner"), [(4096, 4096), (14_336, 4096)])
def test_with_enough_rows_a_product_is_exactly_at_the_ridge(columns, inner):
    rows = compute_bound_rows(columns, inner, 2, *H100)
    moved = product_bytes(rows, columns, inner, 2, 2)
    assert intensity(product_operations(rows, columns, inner), moved) == pytest.approx(ridge(*H100))


def test_a_narrow_weight_never_has_enough_rows():
    assert compute_bound_rows(128, 4096, 2, *H100) == math.inf
