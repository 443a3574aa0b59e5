"""A data loader: closed forms where they exist, invariants, and PyTorch's own, measured."""

import itertools
from dataclasses import replace

import pytest

from engine.simulate.job.loader_queue import (
    DataLoader,
    enough_workers,
    load_batches,
    mean_step_time,
    wait_share,
)
from tests.each import each

EVEN = DataLoader(workers=2, prefetch=2, prepare=0.25, slow=0.25, every=0, step=0.1)
UNEVEN = replace(EVEN, slow=0.6, every=13)
STEPS, SKIPPED = 240, 40


def mean(loader):
    return mean_step_time(load_batches(loader, STEPS), SKIPPED)


def test_without_workers_a_step_takes_its_preparation_and_itself():
    assert mean(replace(EVEN, workers=0)) == pytest.approx(0.35)


@pytest.mark.parametrize("workers", range(1, 7))
@pytest.mark.parametrize("prefetch", [1, 2, 8])
def test_even_batches_come_at_the_pace_of_all_workers_or_of_the_steps(workers, prefetch):
    pace = max(0.1, 0.25 / workers)
    assert mean(replace(EVEN, workers=workers, prefetch=prefetch)) == pytest.approx(pace, rel=1e-3)


def test_the_first_sixteen_of_two_workers_by_hand():
    first = load_batches(EVEN, 4)
    assert [one.worker for one in first] == [0, 1, 0, 1]
    assert [one.received for one in first] == pytest.approx([0.25, 0.35, 0.5, 0.6])
    assert [one.wait for one in first] == pytest.approx([0.25, 0.0, 0.05, 0.0])


LOADERS = [
    replace(UNEVEN, workers=workers, prefetch=prefetch, every=every)
    for workers in (1, 2, 3, 5)
    for prefetch in (1, 2, 4)
    for every in (0, 2, 13)
]


@each("loader", LOADERS)
def test_batches_are_taken_in_order_and_none_before_it_is_ready(loader):
    batches = load_batches(loader, STEPS)
    assert all(one.started <= one.ready <= one.received < one.ended for one in batches)
    assert all(a.ended == b.requested for a, b in itertools.pairwise(batches))


@each("loader", LOADERS)
def test_a_worker_prepares_one_batch_at_a_time_and_never_more_are_ahead_than_allowed(loader):
    batches = load_batches(loader, STEPS)
    for worker in range(loader.workers):
        own = [one for one in batches if one.worker == worker]
        assert all(a.ready <= b.started for a, b in itertools.pairwise(own))
    ahead = loader.workers * loader.prefetch
    for k, one in enumerate(batches[ahead:]):
        assert one.started >= batches[k].received


@each("loader", LOADERS)
def test_more_ahead_never_makes_a_step_wait_longer(loader):
    more = replace(loader, prefetch=loader.prefetch + 1)
    assert mean(more) <= mean(loader) + 1e-12


def test_too_few_workers_wait_however_far_they_are_ahead():
    assert enough_workers(UNEVEN) == 3
    assert mean(replace(UNEVEN, prefetch=8)) > 0.13
    assert mean(replace(UNEVEN, prefetch=8)) == pytest.approx((0.25 + 0.35 / 13) / 2, rel=0.02)


def test_enough_workers_need_some_ahead_for_the_slow_batches():
    three = replace(UNEVEN, workers=3)
    assert wait_share(load_batches(replace(three, prefetch=1), STEPS), SKIPPED) > 0.15
    assert wait_share(load_batches(three, STEPS), SKIPPED) == pytest.approx(0, abs=1e-9)


def test_a_worker_that_has_every_slow_batch_holds_up_the_others():
    # Three workers in turn, each twelfth batch slow: always the same worker's.
    one = replace(UNEVEN, workers=3, every=12, prefetch=8)
    slowest = (3 * 0.25 + 0.6) / 12
    assert mean(one) == pytest.approx(slowest, rel=0.01)


@pytest.mark.parametrize(
    ("workers", "prefetch", "measured"),
    [(0, 1, 0.3818), (2, 2, 0.1386), (2, 8, 0.1384), (3, 1, 0.1269), (3, 2, 0.1027)],
)
def test_pytorch_took_as_long_for_a_step(workers, prefetch, measured):
    # The program of the guide, PyTorch 2.13, 160 steps of which the first 40 are left out.
    loader = replace(UNEVEN, workers=workers, prefetch=prefetch)
    assert mean_step_time(load_batches(loader, 160), 40) == pytest.approx(measured, rel=0.06)
