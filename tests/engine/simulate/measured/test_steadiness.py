import random
import statistics

import pytest

from engine.simulate.measured.steadiness import quantile, steadiness


def test_equal_steps_have_no_spread_and_no_drift():
    found = steadiness([2.0] * 50)
    assert (found.median, found.low, found.high, found.drift, found.slow) == (2.0, 2.0, 2.0, 0, 0)


def test_the_first_tenth_is_warm_up_and_at_most_ten():
    assert [steadiness([1.0] * n).skipped for n in (1, 3, 4, 40, 500)] == [0, 0, 1, 4, 10]


def test_a_slow_start_does_not_move_the_median():
    assert steadiness([60.0, 5.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]).median == 2.0


def test_a_known_drift_is_recovered():
    chance = random.Random("drift")
    steps = [(1 + 0.2 * i / 999) * chance.gauss(1.0, 0.01) for i in range(1000)]
    # The medians of the first and last quarter lie three quarters of the way apart.
    assert steadiness(steps).drift == pytest.approx(0.15, abs=0.01)


def test_a_known_spread_is_recovered():
    chance = random.Random("spread")
    found = steadiness([chance.gauss(1.0, 0.1) for _ in range(4000)])
    assert found.high - found.low == pytest.approx(2 * 1.2816 * 0.1, rel=0.05)


def test_slow_steps_are_counted():
    assert steadiness([1.0] * 30 + [1.4, 1.6, 9.0]).slow == 2


def test_quantiles_are_those_of_the_standard_library():
    values = [3.0, 1.0, 4.0, 1.5, 9.0]
    assert quantile(values, 0.5) == statistics.median(values)
    assert quantile(values, 0.0) == 1.0
    assert quantile(values, 1.0) == 9.0
