"""Capacity: drops by chance as printed, and padding that adds up with them."""

import pytest

from engine.calculator import load, make
from tests.each import each

CAPACITY = load("expert_capacity")


def solved(**values):
    return CAPACITY.solve(make(CAPACITY, values))


@each("case", [(64, "13.1"), (4096, "1.6")])
def test_by_chance_13_percent_of_64_tokens_are_dropped_and_1_6_of_4096(case):
    tokens, printed = case
    assert f"{100 * solved(num_tokens=tokens).dropped:.1f}" == printed


def test_at_a_factor_of_one_as_much_is_empty_as_is_dropped():
    found = solved()
    assert found.empty == pytest.approx(found.dropped)


def test_twice_the_places_leave_at_least_half_of_them_empty():
    assert solved(capacity_factor=2.0).empty >= 0.5


def test_the_curve_holds_the_value_shown():
    found = solved(capacity_factor=1.5)
    curve = CAPACITY.compute(make(CAPACITY, {"capacity_factor": 1.5}))["curve"]
    lines = curve() if callable(curve) else curve
    at = lines.series[0].x.index(1.5)
    assert lines.series[0].y[at] == found.dropped


def test_drops_never_grow_with_the_factor():
    curve = solved(num_tokens=256, experts_per_token=2).dropped_curve
    assert list(curve) == sorted(curve, reverse=True)
