"""The same all-reduce by every algorithm, worked out by hand."""

from dataclasses import replace

import pytest

from engine.core.units import GB, MICRO
from engine.formulas.bandwidth import fit_two_points, largest_buffer, ring_tree_crossover_size
from engine.simulate.collectives.algorithm_race import RaceNetwork, all_reduce_times

RACE = RaceNetwork(
    world_size=64,
    gpus_per_node=8,
    bandwidth=50 * GB,
    scale_up=400 * GB,
    latency=5 * MICRO,
    scale_up_latency=1 * MICRO,
)


def test_a_gigabyte_on_64_gpus_by_four_algorithms():
    # Ring 2 * 63/64 / 50 + 126 * 5 us; tree 2 / 50 + 12 * 5 us; switch 65/64 / 50 + 10 us;
    # hierarchy 2 * 7/8 / 400 + 14 us inside and 2 * 7/8 / 8 / 50 + 70 us across.
    assert all_reduce_times(RACE, GB) == pytest.approx(
        {"ring": 0.040005, "tree": 0.04006, "in_network": 0.0203225, "hierarchical": 0.008834}
    )


def test_a_hierarchy_needs_full_nodes():
    assert "hierarchical" not in all_reduce_times(replace(RACE, world_size=60), GB)


def test_ring_and_tree_take_the_same_at_the_crossover():
    now = all_reduce_times(RACE, ring_tree_crossover_size(64, 50 * GB, 5 * MICRO))
    assert now["ring"] == pytest.approx(now["tree"], rel=1e-12)


def test_a_fitted_link_reaches_what_was_measured():
    fit = fit_two_points(1e6, 1e6 / 25e9, 256e6, 256e6 / 48e9)
    assert (fit.reached(1e6), fit.reached(256e6)) == pytest.approx((25e9, 48e9))


def test_a_second_at_50_gigabytes_sums_28_6_gigabytes_on_8_gpus():
    # 50 GB through a port are 1.75 buffers.
    assert largest_buffer(1.0, 50 * GB, 8) / GB == pytest.approx(50 / 1.75)
