import math

import pytest

from engine.simulate.numerics.error_spread import deviations_from_median, summarize_errors


def test_the_ninetieth_percentile_is_that_of_the_report():
    assert summarize_errors([0.01 * n for n in range(1, 11)]).p90 == pytest.approx(0.10)


def test_a_bias_keeps_the_sign_and_a_mean_does_not():
    found = summarize_errors([0.1, -0.1, 0.3, -0.1])
    assert (found.bias, found.mean) == pytest.approx((0.05, 0.15))
    assert (found.median, found.worst) == pytest.approx((0.1, 0.3))


def test_three_of_four_are_within_a_tenth():
    assert summarize_errors([0.02, -0.1, 0.09, 0.5]).within == 0.75


def test_no_error_is_no_number():
    assert math.isnan(summarize_errors([]).mean)


def test_values_are_compared_with_the_median_of_their_own_group():
    assert deviations_from_median([[1.0, 1.1], [7.0]]) == pytest.approx([-1 / 21, 1 / 21])
