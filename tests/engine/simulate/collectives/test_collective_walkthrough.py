"""A collective played on numbers and on wires: times known beforehand, and the slow port."""

from dataclasses import replace

import pytest

from engine.core.units import GB, MICRO, Gbit
from engine.simulate.collectives.collective_walkthrough import (
    WalkthroughSetup,
    algorithm_modules,
    correct_cells,
    run_walkthrough,
    slow_port_times,
)

RING = WalkthroughSetup(
    algorithm="ring",
    world_size=8,
    slow_gpu=1,
    size=14 * GB,
    port=400 * Gbit,
    latency=5 * MICRO,
)


def test_a_ring_of_eight_takes_what_nccl_takes():
    # 24.5 GB at 44 GB/s, 16 steps of 5 us and 12.9 us of start.
    assert run_walkthrough(RING).timed.time == pytest.approx(24.5 / 44 + 92.9e-6)


def test_a_ring_waits_for_a_port_at_a_quarter_in_every_round():
    slow = run_walkthrough(replace(RING, slow_share=0.25))
    assert (slow.timed.time, slow.even.time) == pytest.approx((4 * 24.5 / 44, 24.5 / 44), rel=5e-4)


def test_a_star_hardly_waits_for_a_leaf_but_fully_for_its_root():
    # Seven buffers in, seven out, at 44 GB/s: 4.45 s; its root sends the second half.
    star = replace(RING, algorithm="star", slow_share=0.5)
    leaf, root = run_walkthrough(star), run_walkthrough(replace(star, slow_gpu=0))
    assert leaf.timed.time == pytest.approx(196 / 44, rel=1e-4)
    assert root.timed.time == pytest.approx((98 + 196) / 44, rel=1e-4)


def test_a_curve_goes_through_single_runs():
    shares = (0.25, 0.5, 1.0)
    single = [run_walkthrough(replace(RING, slow_share=share)).timed.time for share in shares]
    assert slow_port_times(RING, shares) == pytest.approx(single)


def test_an_operation_without_the_algorithm_takes_its_first():
    hand = run_walkthrough(replace(RING, operation="gather", algorithm="tree"))
    assert hand.algorithm == next(iter(algorithm_modules()["gather"]))


def test_of_few_gpus_the_last_is_the_slow_one():
    assert run_walkthrough(replace(RING, world_size=2, slow_gpu=15)).slow_port == ("port_out", 1, 0)


@pytest.mark.parametrize("operation", algorithm_modules())
def test_every_promise_is_kept(operation):
    assert all(
        correct_cells(run_walkthrough(replace(RING, operation=operation, world_size=5)).trace)
    )
