"""LL: a ring in a node, a tree over nodes, and what the host binds it to."""

import pytest

from engine.catalog.transports import INFINIBAND, LAUNCH
from engine.core.units import GB, MICRO, KiB
from engine.formulas.transfer_time import (
    small_all_reduce_time,
    small_half_time,
    small_round_time,
)


def test_a_few_bytes_take_seven_steps_of_a_ring_in_a_node():
    assert small_round_time(8.0, 8, 1, 365 * GB) == pytest.approx(7 * 0.6 * MICRO, rel=1e-3)


def test_an_all_reduce_is_two_rounds():
    rounds = 2 * small_round_time(64 * KiB, 32, 4, 380 * GB)
    found = small_all_reduce_time(64 * KiB, 32, 4, 380 * GB)
    assert found == pytest.approx(LAUNCH + 6.6 * MICRO + rounds)


def test_over_four_nodes_the_host_binds_half_of_it_to_20_gb_a_second():
    # 28 steps of 1 us that a host posts, 3 of 9.3 between nodes.
    found = small_half_time(64 * KiB, 32, 4, 380 * GB, INFINIBAND)
    steps = 28 * MICRO + 3 * 9.3 * MICRO
    wire = 31 / 32 * 64 * KiB / (20.4 * GB)
    assert found == pytest.approx(LAUNCH + 6.6 * MICRO + steps + wire)
