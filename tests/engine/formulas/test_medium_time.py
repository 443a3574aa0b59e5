"""LL128 by hand, as NCCL plans it (tuning.cc, enqueue.cc)."""

from math import hypot, inf

import pytest

from engine.catalog.transports import EFA_V2, INFINIBAND, LAUNCH
from engine.core.units import GB, MICRO, GiB, MiB
from engine.formulas.medium_time import (
    channels,
    medium_half_time,
    medium_ring_time,
    medium_tree_time,
)

STEP = 87.4 * MICRO / 3  # of EFA v2 in LL


def test_a_ring_carries_36_7_gb_a_second_in_each_of_eight_channels():
    # 2 rounds of 127 steps of 7.6 us, of which 15 add 29.1; 2 * 127/128 GiB at 293.6 GB/s.
    found = medium_ring_time(GiB, 128, 16, 355 * GB, EFA_V2)
    steps = 2 * (127 * 7.6 * MICRO + 15 * STEP)
    wire = 2 * 127 / 128 * GiB / (8 * 36.7 * GB)
    assert found == pytest.approx(LAUNCH + 14 * MICRO + hypot(steps, wire))
    assert wire > 2 * 127 / 128 * GiB / (0.92 * 355 * GB)


def test_half_of_it_is_one_round():
    whole = medium_ring_time(GiB, 128, 16, 355 * GB, EFA_V2)
    half = medium_half_time(GiB, 128, 16, 355 * GB, EFA_V2)
    start = LAUNCH + 14 * MICRO
    assert half - start == pytest.approx((whole - start) / 2)


def test_a_tree_waits_for_its_first_chunk_to_pass():
    # 256 MiB on 16 nodes: 1 + 4 + 0.8 stages; 16 MiB a channel in chunks of 576,000 bytes are 29,
    # fewer than 64 * 5.8 / 8 = 46, so chunks of 288,000; 2 * 5.8 of them beside the whole transfer.
    found = medium_tree_time(256 * MiB, 128, 16, 355 * GB, EFA_V2, inf)
    latency = 2 * (7 * 1.25 * MICRO + 4 * STEP)
    wire = 2 * 256 * MiB / (8 * 29 * GB)
    fill = 2 * 5.8 * 288_000 / (16 * MiB)
    assert found == pytest.approx(LAUNCH + 14 * MICRO + latency + wire * (1 + fill))


def test_without_a_limit_of_channels_the_bytes_set_the_rate():
    # 0.92 of the bandwidth, 120 of 128 bytes.
    found = medium_tree_time(64 * GiB, 32, 4, 100 * GB, INFINIBAND, inf)
    assert found == pytest.approx(2 * 64 * GiB / (0.92 * 0.9375 * 100 * GB), rel=0.01)


@pytest.mark.parametrize(("per_node", "count"), [(8, 16), (4, 16), (2, 8), (1, 4)])
def test_channels(per_node, count):
    assert channels(4 * per_node, 4) == count
