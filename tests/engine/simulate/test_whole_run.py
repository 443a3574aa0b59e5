"""A whole run against times worked by hand, and its parts."""

import math

import pytest

from engine.basis.units import DAY, HOUR
from engine.simulate.cluster_life import Habits
from engine.simulate.whole_run import whole_run

DAILY = Habits(interval=HOUR, checkpoint=60.0, restart=600.0, mtbf=DAY)


def test_without_failures_only_checkpoints_are_added():
    found = whole_run(10 * HOUR, Habits(interval=HOUR, checkpoint=60.0, restart=600.0, mtbf=1e15))
    assert (found.wall, found.redone) == (pytest.approx(10 * HOUR + 600), pytest.approx(0, abs=1))


def test_the_parts_are_the_run():
    found = whole_run(100 * HOUR, DAILY)
    parts = found.steps + found.checkpoints + found.restarts + found.redone
    assert parts == pytest.approx(found.wall)


def test_an_hour_lost_half_on_average_by_every_failure_of_a_day():
    # About four failures in a hundred hours, each destroying about half of an hour and a minute.
    found = whole_run(100 * HOUR, DAILY)
    assert found.redone == pytest.approx(found.failures * 0.5 * (HOUR + 60), rel=0.05)


def test_what_never_gets_anywhere_has_no_end():
    found = whole_run(HOUR, Habits(interval=DAY, checkpoint=60.0, restart=600.0, mtbf=60.0))
    assert (found.wall, found.redone) == (math.inf, math.inf)
