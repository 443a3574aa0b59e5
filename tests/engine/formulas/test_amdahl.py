"""Amdahl's law by hand."""

import pytest

from engine.formulas.amdahl import amdahl


def test_half_of_it_twice_as_fast_is_a_third_faster():
    assert amdahl(0.5, 2.0) == pytest.approx(4 / 3)


def test_what_takes_no_time_gains_nothing():
    assert amdahl(0.0, 100.0) == 1


def test_a_part_without_end_of_speed_leaves_the_rest():
    assert amdahl(0.15, 1e12) == pytest.approx(1 / 0.85)
