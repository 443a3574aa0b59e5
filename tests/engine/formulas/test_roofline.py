"""The roofline by hand."""

import pytest

from engine.core.units import TB, TERA
from engine.formulas.roofline import (
    Roof,
    attainable,
    intensity,
    product_bytes,
    product_operations,
    ridge,
    roofline_time,
)

H100 = 989 * TERA, 3.35 * TB


def test_the_ridge_of_an_h100_is_at_295_operations_per_byte():
    assert round(ridge(*H100)) == 295


def test_a_product_of_four_by_four_by_hand():
    assert product_operations(4, 4, 4) == 128
    assert product_bytes(4, 4, 4, 2, 2) == 96
    assert intensity(128, 96) == pytest.approx(4 / 3)


def test_square_products_do_a_third_of_their_side_for_each_byte():
    side = 4096
    each = intensity(product_operations(side, side, side), product_bytes(side, side, side, 2, 2))
    assert each == pytest.approx(side / 3)


def test_below_the_ridge_the_rate_is_that_of_the_memory():
    assert attainable(*H100, 64) == 64 * 3.35 * TB


def test_beyond_the_ridge_it_is_the_peak():
    assert attainable(*H100, 296) == 989 * TERA


def test_a_roof_bends_at_its_ridge():
    roof = Roof(peak=100.0, bandwidth=20.0)
    assert roof.ridge == 5
    assert [roof.at(x) for x in (1, 5, 8)] == [20, 100, 100]


def test_the_time_is_that_of_the_slower_one():
    assert roofline_time(989e12, 1.0, *H100) == 1.0
    assert roofline_time(1.0, 3.35e12, *H100) == 1.0
