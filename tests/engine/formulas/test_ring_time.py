"""Rings in Simple: the ramp of chunks, and the latency from rank to rank."""

import pytest

from engine.catalog.transports import EFA_V1, INFINIBAND, NVLINK
from engine.core.units import MICRO, MiB
from engine.formulas.ring_time import network_step, ramp, ring_latency


def test_the_ramp_ends():
    assert ramp(2.0**40, NVLINK) == pytest.approx(1.0, abs=1e-4)


def test_a_round_over_four_nodes_of_eight_waits_28_times_inside_and_4_times_between():
    found = ring_latency(64 * MiB, 32, 4, INFINIBAND)
    assert found == pytest.approx(28 * NVLINK.step + 4 * 11.4 * MICRO)


def test_below_the_eager_limit_a_message_does_not_ask_first():
    assert network_step(8 * 1024, EFA_V1) == EFA_V1.step_eager < network_step(8193, EFA_V1)
