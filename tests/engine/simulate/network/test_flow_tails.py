"""The last of many flows: collisions by hand, tails in closed form."""

import math
from dataclasses import replace

import pytest

from engine.simulate.network.flow_tails import (
    ROUTINGS,
    FlowBatch,
    delay_share,
    last_flow_times,
    tail_ratio,
    time_grid,
)
from tests.each import each

# So little noise that it only smooths the distribution.
QUIET = FlowBatch(flows=32, paths=32, deviation=0.02)


def test_two_hashed_flows_meet_on_one_of_two_links_every_second_time():
    found = last_flow_times(FlowBatch(flows=2, paths=2, deviation=0.02), "ecmp")
    assert found.busiest == pytest.approx(1.5, abs=0.2)


def test_the_busiest_of_32_hashed_links_carries_three_and_a_half_flows():
    # The exact mean of the fullest of 32 urns with 32 balls is 3.53.
    assert last_flow_times(QUIET, "ecmp").busiest == pytest.approx(3.53, abs=0.2)


def test_pieces_of_flows_spread_better():
    whole, pieces = (last_flow_times(replace(QUIET, pieces=n), "ecmp") for n in (1, 16))
    # 512 balls in 32 urns: 16 each, and about 2.1 deviations of 3.9 more in the fullest.
    assert pieces.busiest == pytest.approx(1.51, abs=0.05)
    assert pieces.mean < whole.mean / 2


@each("routing", ("adaptive", "spray"))
def test_equal_loads_leave_only_the_noise(routing):
    found = last_flow_times(QUIET, routing)
    assert found.busiest == found.even == 1
    assert found.median == pytest.approx(1.04, abs=0.03)


def test_a_flow_that_is_not_cut_leaves_links_uneven():
    flows = replace(QUIET, flows=48)
    assert last_flow_times(flows, "adaptive").busiest == 2
    assert last_flow_times(flows, "spray").busiest == 1.5


@each("routing", tuple(ROUTINGS))
def test_the_last_of_more_leaves_is_later(routing):
    one, many = (last_flow_times(replace(QUIET, leaves=n), routing) for n in (1, 32))
    assert many.mean > one.mean
    assert all(a >= b for a, b in zip(one.shares, many.shares, strict=True))


def test_a_rare_delay_hits_nearly_every_batch_of_many_flows():
    flows = FlowBatch(flows=32, paths=32, leaves=128, deviation=0.02, delayed=0.001, delay=5.0)
    # 0.999 to the power of 4,096 flows is 0.017: one batch in 60 escapes.
    assert delay_share(flows, 2.0) == pytest.approx(0.999)
    assert last_flow_times(flows, "spray").median == pytest.approx(5, rel=0.1)


def test_the_tail_of_a_log_normal_flow():
    found = tail_ratio(FlowBatch(flows=1, paths=1, deviation=0.5))
    assert found == pytest.approx(math.exp(3.0902 * 0.5), rel=0.02)


def test_half_of_the_steps_are_done_at_the_median():
    found = last_flow_times(replace(QUIET, deviation=0.2), "spray")
    assert found.median < found.mean < found.rare
    assert math.isclose(time_grid()[20], 1.0)
