"""A job in slots against a hand-worked one, its exact mean, and Daly's model."""

from statistics import fmean

import pytest

from engine.formulas.goodput import goodput
from engine.simulate.job.slotted_run import (
    CHECKPOINT,
    FAILED,
    LOST,
    RESTART,
    SAVED,
    SlottedJob,
    mean_slots,
    slot_events,
    work_pieces,
)

JOB = SlottedJob(work=20, interval=6, checkpoint=1, restart=2, mtbf=20.0)
ENDLESS = 10**9


def length(job, seed):
    return len(list(slot_events(job, seed, ENDLESS))[-1].slots)


def test_the_last_piece_is_shorter():
    assert work_pieces(JOB) == (6, 6, 6, 2)


def test_without_failures_only_checkpoints_are_added():
    calm = SlottedJob(work=20, interval=6, checkpoint=1, restart=2, mtbf=1e6)
    found = list(slot_events(calm, 1, ENDLESS))
    assert [one.done for one in found] == [6, 12, 18, 20]
    assert len(found[-1].slots) == 20 + 4 == pytest.approx(mean_slots(calm), rel=1e-4)


def test_every_slot_is_accounted_for():
    last = list(slot_events(JOB, 3, ENDLESS))[-1]
    assert last.slots.count(SAVED) == 20
    assert last.slots.count(CHECKPOINT) == 4
    rest = sum(last.slots.count(kind) for kind in (LOST, FAILED, RESTART))
    assert 24 + rest == len(last.slots)
    assert last.slots.count(FAILED) > 0


def test_one_piece_of_one_slot_by_hand():
    # Struck every second time: a row of one success takes two slots on average.
    assert mean_slots(SlottedJob(work=1, interval=1, checkpoint=0, restart=0, mtbf=2.0)) == 2.0
    # Two in a row: 2 + 4. Three in a row: 2 + 4 + 8.
    assert mean_slots(SlottedJob(work=2, interval=2, checkpoint=0, restart=0, mtbf=2.0)) == 6.0
    assert mean_slots(SlottedJob(work=2, interval=2, checkpoint=1, restart=0, mtbf=2.0)) == 14.0


@pytest.mark.parametrize("interval", [1, 5, 20])
def test_many_lives_take_the_mean(interval):
    job = SlottedJob(work=20, interval=interval, checkpoint=1, restart=2, mtbf=20.0)
    tried = fmean(length(job, seed) for seed in range(1, 4001))
    assert tried == pytest.approx(mean_slots(job), rel=0.03)


def test_with_short_slots_it_is_dalys_model():
    fine = SlottedJob(work=600_000, interval=6000, checkpoint=1000, restart=2000, mtbf=20_000.0)
    share = goodput(6000.0, 1000.0, 2000.0, 20_000.0)
    assert 600_000 / mean_slots(fine) == pytest.approx(share, rel=1e-3)


def test_a_hopeless_job_is_given_up():
    job = SlottedJob(work=60, interval=60, checkpoint=1, restart=2, mtbf=3.0)
    assert len(list(slot_events(job, 1, 144))[-1].slots) < 144 + 70
