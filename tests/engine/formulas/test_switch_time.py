"""Sums in switches: one node, and a tree of nodes whose chunks fill it."""

from math import inf

import pytest

from engine.catalog.transports import EFA_V2, INFINIBAND, LAUNCH
from engine.core.units import GB, MICRO, GiB, MiB
from engine.formulas.switch_time import (
    switch_all_reduce_time,
    switch_buffers,
    switch_tree_all_reduce_time,
)

STEP = 87.4 * MICRO / 1.5 + 9.5 * MICRO  # of EFA v2


def test_a_switch_of_eight_sends_nine_eighths():
    found = switch_all_reduce_time(2.0**40, 8, 365 * GB, 0.833)
    assert found == pytest.approx(9 / 8 * 2.0**40 / (0.833 * 365 * GB), rel=1e-3)


def test_beyond_eight_ranks_a_switch_gains_no_more():
    # The bus bandwidth of eight is 14/9 of the rate; of 16 in two nodes and of 64 it is the same.
    assert switch_buffers(8, 8) == pytest.approx(9 / 8)
    for ranks, heads in ((16, 8), (64, 64), (72, 72)):
        assert 2 * (ranks - 1) / ranks / switch_buffers(ranks, heads) == pytest.approx(14 / 9)


def test_sixteen_chunks_wait_for_eleven_stages_on_32_nodes_with_efa():
    # 512 MiB, 16 channels, 8 GPUs a node: 4 MiB each. Amazon's chunks of 512 KiB would be 8, fewer
    # than 32; of 256 KiB they are 16, as many as NCCL wants. Five levels up and down, and the copy.
    found = switch_tree_all_reduce_time(512 * MiB, 256, 32, 355 * GB, 0.833, EFA_V2, inf)
    wire = 2 * 512 * MiB / (355 * GB)
    assert found == pytest.approx(LAUNCH + 25 * MICRO + 10 * STEP + wire * (1 + 11 / 16))


def test_infiniband_has_chunks_of_64_kib_from_four_nodes_on_and_of_128_kib_before():
    # 1 GiB: 8 MiB for each channel and GPU.
    for nodes, levels, chunks in ((2, 1, 64), (4, 2, 128)):
        found = switch_tree_all_reduce_time(GiB, 8 * nodes, nodes, 380 * GB, 0.833, INFINIBAND, inf)
        wire = (1 if nodes == 2 else 2) * GiB / (380 * GB)
        latency = LAUNCH + 25 * MICRO + 2 * levels * 20.9 * MICRO
        assert found == pytest.approx(latency + wire * (1 + (2 * levels + 1) / chunks))


def test_a_message_smaller_than_a_chunk_passes_every_stage():
    small = switch_tree_all_reduce_time(1024.0, 16, 2, 380 * GB, 0.833, INFINIBAND, inf)
    assert small == pytest.approx(LAUNCH + 25 * MICRO + 2 * 20.9 * MICRO, rel=0.01)
