"""The short step against its times by hand, in milliseconds."""

import pytest

from engine.core.units import MILLI
from engine.simulate.streams.short_step import short_step


def parts(**changes):
    found = short_step(**changes).parts
    named = (found.length, found.compute, found.hidden, found.exposed, found.idle)
    return [one / MILLI for one in named]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # Products to 12; reductions 8 to 11 and 12 to 15; optimizer 15 to 17.
        ({}, [17, 14, 3, 3, 0]),
        # Reductions 8 to 14 and 14 to 20: what was hidden is exposed now as well.
        ({"network": 0.5}, [22, 14, 4, 8, 0]),
        # Reductions of 1.5: 8 to 9.5 and 12 to 13.5.
        ({"network": 2.0}, [15.5, 14, 1.5, 1.5, 0]),
        # Products of 8 each to 24; reductions 16 to 19 and 24 to 27.
        ({"products": 0.5}, [29, 26, 3, 3, 0]),
        ({"late": 3 * MILLI}, [20, 14, 3, 3, 3]),
    ],
)
def test_the_parts_are_those_by_hand(changes, expected):
    assert parts(**changes) == pytest.approx(expected, abs=1e-9)


def test_the_parts_add_up():
    found = short_step(products=0.8, network=0.6, late=1.5 * MILLI).parts
    whole = found.compute + found.contention + found.exposed + found.idle
    assert whole == pytest.approx(found.length, rel=1e-12)
