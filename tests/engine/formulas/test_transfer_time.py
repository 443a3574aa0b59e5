"""Against measured collectives: nccl-tests on nodes of A100 and H200, two nodes over EFA."""

import pytest

from engine.catalog.nccl_tuner import tuner_choice
from engine.catalog.transports import EFA_V1, INFINIBAND, SWITCH_SHARE, TRANSPORTS
from engine.core.units import MICRO, KiB, MiB
from engine.formulas.ring_time import ring_all_reduce_ramped_time
from engine.formulas.switch_time import switch_all_reduce_time
from engine.formulas.transfer_time import (
    all_reduce_time,
    half_times,
    scatter_and_gather_time,
    scatter_or_gather_time,
    small_all_reduce_time,
)
from engine.formulas.tree_time import parallel_tree_time

A100, H200 = 235e9, 365e9  # bus bandwidth of large messages in a ring of 8

# (ranks, nodes, bandwidth, share of the switch), size, microseconds.
# Azure's guide and dgxc-benchmarking.
MEASURED = [
    ((8, 1, A100, 0.0), 16 * MiB, 268.8),
    ((8, 1, A100, 0.0), 64 * MiB, 704.8),
    ((8, 1, A100, 0.0), 256 * MiB, 2196.5),
    ((8, 1, A100, 0.0), 1024 * MiB, 8237.8),
    ((8, 1, H200, SWITCH_SHARE), 8 * MiB, 80.7),
    ((8, 1, H200, SWITCH_SHARE), 32 * MiB, 195.1),
    ((8, 1, H200, SWITCH_SHARE), 128 * MiB, 569.5),
    ((8, 1, H200, SWITCH_SHARE), 1024 * MiB, 4018.7),
    ((16, 2, 46.3e9, 0.0, EFA_V1), 4 * MiB, 533.9),
    ((16, 2, 46.3e9, 0.0, EFA_V1), 32 * MiB, 1540.2),
    ((16, 2, 46.3e9, 0.0, EFA_V1), 512 * MiB, 13552.0),
    ((16, 2, 46.3e9, 0.0, EFA_V1), 1024 * MiB, 26217.0),
]


@pytest.mark.parametrize(("group", "size", "measured"), MEASURED)
def test_an_all_reduce_is_within_10_percent_of_the_measured_one(group, size, measured):
    assert all_reduce_time(size, *group) == pytest.approx(measured * MICRO, rel=0.10)


def test_small_messages_take_the_protocol_for_them():
    size = 64 * KiB
    assert all_reduce_time(size, 8, 1, A100) == small_all_reduce_time(size, 8, 1, A100)


def test_large_messages_take_the_ring_where_no_switch():
    size = 256 * MiB
    assert all_reduce_time(size, 8, 1, A100) == ring_all_reduce_ramped_time(size, 8, 1, A100)


def test_large_messages_take_the_switch_that_adds():
    size = 256 * MiB
    assert all_reduce_time(size, 8, 1, H200, SWITCH_SHARE) == switch_all_reduce_time(
        size, 8, H200, SWITCH_SHARE
    )


def crossing(ranks, nodes, bandwidth, switch):
    """The smallest power of two that leaves the protocol for small messages."""
    sizes = [2.0**power for power in range(12, 30)]
    group = (ranks, nodes, bandwidth)
    return next(
        size
        for size in sizes
        if all_reduce_time(size, *group, switch) < small_all_reduce_time(size, *group)
    )


def test_the_switch_takes_over_within_a_factor_of_two_of_2_mib():
    # Measured on 8 H200: a ring with LL up to 1 MiB, NVLS from 2 MiB on.
    assert 1 * MiB <= crossing(8, 1, H200, SWITCH_SHARE) <= 4 * MiB


def test_a_gather_is_no_longer_than_an_all_reduce():
    assert scatter_or_gather_time(64 * MiB, 8, 1, A100) < all_reduce_time(64 * MiB, 8, 1, A100)


def test_a_large_all_reduce_is_a_scatter_and_a_gather():
    parts = 2 * scatter_or_gather_time(2.0**34, 8, 1, A100)
    assert all_reduce_time(2.0**34, 8, 1, A100) == pytest.approx(parts, rel=0.01)


def test_one_rank_communicates_nothing():
    assert all_reduce_time(1e9, 1, 1, A100) == scatter_or_gather_time(1e9, 1, 1, A100) == 0.0


def test_one_gpu_per_node_gathers_little_in_pat_and_much_in_a_ring():
    little, much = 64 * KiB, 2.0**32
    assert scatter_or_gather_time(little, 64, 64, 40e9) == parallel_tree_time(little, 64, 40e9)
    assert scatter_or_gather_time(much, 64, 64, 40e9) < parallel_tree_time(much, 64, 40e9)


def test_a_scatter_and_a_gather_are_twice_one_where_no_tuner_tells_them_apart():
    group = (64 * MiB, 128, 16, 350e9, INFINIBAND)
    assert scatter_and_gather_time(*group) == 2 * scatter_or_gather_time(*group)


def test_the_third_efa_has_regions_of_its_own_for_reduce_scatters():
    # nccl_ofi_regions.cpp, P5en, 128 ranks: LL128 up to 2.25 GiB scattered, to 1.87 GiB gathered.
    group = (2.1 * 2**30, 128, 16, 350e9, TRANSPORTS["efa-v3"])
    gather, scatter = (
        scatter_or_gather_time(*group, what) for what in ("all_gather", "reduce_scatter")
    )
    found = half_times(*group)
    assert gather == found["Ring Simple"]
    assert scatter == found["Ring LL128"]
    assert scatter_and_gather_time(*group) == gather + scatter


def test_the_second_efa_has_none_for_eight_gpus_of_a_node():
    for what in ("all_gather", "reduce_scatter"):
        assert not tuner_choice("efa-v2", what, 64 * MiB, 128, 16, ("Ring Simple", "Ring LL128"))
