"""Trees of nodes in Simple, as NCCL plans them (tuning.cc, search.cc)."""

import pytest

from engine.catalog.transports import EFA_V2, EFA_V3, INFINIBAND, LAUNCH, NVLINK
from engine.core.units import GB, GiB, KiB
from engine.formulas.tree_time import (
    parallel_tree_time,
    tree_all_reduce_ramped_time,
    tree_latency,
    tree_pattern,
)


def test_pat_has_three_quarters_of_the_bandwidth_and_a_step_per_rank():
    # tuning.cc: 8 us, log2(64) levels of a step / 3.5, 2.8 us per rank.
    found = parallel_tree_time(2.0**30, 64, 40e9)
    levels = 6 * INFINIBAND.step / 3.5
    assert found == pytest.approx(LAUNCH + 8e-6 + levels + 64 * 2.8e-6 + 2.0**30 / 30e9)


def test_a_tree_of_sixteen_nodes_has_seven_links_and_four_levels():
    found = tree_latency(64 * KiB, 128, 16, INFINIBAND)
    assert found == pytest.approx(7 * NVLINK.step + 4 * INFINIBAND.step)


def test_a_port_of_its_own_per_gpu_leaves_a_simple_tree_0_85():
    # A p5 has one switch per GPU, a p5en one for two GPUs and their ports.
    assert tree_pattern(INFINIBAND) == tree_pattern(EFA_V2) == 0.85
    assert tree_pattern(EFA_V3) == tree_pattern(INFINIBAND, simple=False) == 1.0
    group = (64 * GiB, 128, 16, 350 * GB)
    slower = tree_all_reduce_ramped_time(*group, pattern=0.85)
    assert slower == pytest.approx(2 * 64 * GiB / (0.92 * 0.85 * 350 * GB), rel=1e-2)
    assert slower > tree_all_reduce_ramped_time(*group) > LAUNCH
