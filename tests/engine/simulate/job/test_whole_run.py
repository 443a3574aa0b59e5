"""A whole run against times worked by hand, and its parts."""

import math

import pytest

from engine.core.units import DAY, HOUR
from engine.simulate.job.failure_process import CheckpointPolicy
from engine.simulate.job.forecast import whole_run

DAILY = CheckpointPolicy(interval=HOUR, checkpoint=60.0, restart=600.0, mtbf=DAY)


def test_without_failures_only_checkpoints_are_added():
    found = whole_run(
        10 * HOUR, CheckpointPolicy(interval=HOUR, checkpoint=60.0, restart=600.0, mtbf=1e15)
    )
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
    found = whole_run(
        HOUR, CheckpointPolicy(interval=DAY, checkpoint=60.0, restart=600.0, mtbf=60.0)
    )
    assert (found.wall, found.redone) == (math.inf, math.inf)


def test_a_run_of_milliseconds_loses_nothing_to_failures():
    # 10^9 tokens of a small model on 131,072 GPUs, whose restart takes 70,000 times as long.
    found = whole_run(
        8.6e-3, CheckpointPolicy(interval=HOUR, checkpoint=60.0, restart=600.0, mtbf=1392.0)
    )
    assert (found.wall, found.goodput, found.chance) == (
        8.6e-3,
        1.0,
        pytest.approx(6.2e-6, rel=1e-2),
    )


def test_a_run_shorter_than_its_interval_writes_no_checkpoint():
    found = whole_run(0.9 * HOUR, DAILY)
    assert (found.checkpoints, found.wall > 0.9 * HOUR) == (0.0, True)


def test_a_run_of_one_interval_without_restarts_by_hand():
    # M (e^(W/M) - 1) with a restart of no time: Daly's segment.
    found = whole_run(
        0.5 * HOUR, CheckpointPolicy(interval=HOUR, checkpoint=60.0, restart=0.0, mtbf=HOUR)
    )
    assert found.wall == pytest.approx(HOUR * (math.exp(0.5) - 1))
