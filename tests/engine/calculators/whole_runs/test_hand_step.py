"""A step by hand: what each file says, in milliseconds."""

from dataclasses import replace

import pytest

from engine.calculator import load
from engine.core.units import MILLI

hand_step = load("hand_step")


def solved(**changes):
    return hand_step.solve(replace(hand_step.inputs(), **changes))


def test_prediction_log_and_trace_agree_where_nothing_differs():
    found = solved(network=1.0)
    assert found.measured == found.predicted == pytest.approx(17 * MILLI)
    assert found.rate == pytest.approx(100_000)
    assert found.longer == 1


def test_half_the_network_exposes_more_than_twice_as_much():
    found = solved(network=0.5)
    assert found.predicted_exposed == pytest.approx(3 * MILLI)
    assert found.exposed == pytest.approx(8 * MILLI)


@pytest.mark.parametrize(
    ("changes", "grown"),
    [
        ({"network": 1.0}, "As predicted, or faster"),
        ({"network": 0.5}, "Exposed communication grew most"),
        ({"network": 1.0, "products": 0.5}, "Computation grew most"),
        ({"network": 1.0, "late": 3 * MILLI}, "Idle time grew most"),
    ],
)
def test_the_badge_names_the_part_that_grew(changes, grown):
    views = hand_step.compute(replace(hand_step.inputs(), **changes))
    assert views["cause"].text == grown


def test_the_trace_shows_each_part_of_a_sum_once():
    spans = hand_step.compute(hand_step.inputs())["timeline"].spans
    sums = [one for one in spans if one.lane == "network"]
    assert sum(one.end - one.start for one in sums) == pytest.approx(12 * MILLI)
    assert sum(one.end - one.start for one in sums if one.exposed) == pytest.approx(8 * MILLI)
