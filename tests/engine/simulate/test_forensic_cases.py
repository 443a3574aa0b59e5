"""Two cases: the arithmetic of a published story, and explanations of a made-up one."""

import pytest

from engine.core.units import GB, TB
from engine.simulate.data_parallel.overnight_case import (
    EXPLANATIONS,
    healthy_symptoms,
    hunt_step_time,
    symptoms,
)
from engine.simulate.data_parallel.story_case import (
    NODE_LINE_RATE,
    node_gradient_bytes,
    rebuild_story,
)


def test_the_story_agrees_with_itself_on_idle_time_and_gain():
    story = rebuild_story(1, 0.4)
    assert story.idle == pytest.approx(1.8 / 2.2)
    # 0.4 s of work are 88 % of the new step.
    assert story.step_after == pytest.approx(0.4 / 0.88)
    assert story.gain == pytest.approx(4.84)


def test_300_gb_per_second_are_three_quarters_of_the_line_rate():
    assert rebuild_story(1, 0.4).claimed_share == pytest.approx(0.75)


def test_plain_data_parallelism_of_400_billion_parameters_does_not_fit_and_is_too_slow():
    story = rebuild_story(1, 0.4)
    assert story.states == pytest.approx(6.4 * TB)
    assert story.states > 70 * story.capacity
    # 800 GB of gradients, sent twice less one part in 2,048, over 400 GB/s.
    assert story.at_line == pytest.approx(2 * 2047 / 2048 * 800 * GB / NODE_LINE_RATE)
    assert story.at_line > 1.8


def test_with_llama_3s_plan_the_same_idle_time_needs_a_seventh_of_the_line():
    story = rebuild_story(128, 0.4)
    assert story.states < story.capacity
    assert story.rate_before / NODE_LINE_RATE == pytest.approx(0.138, abs=0.001)


@pytest.mark.parametrize(("sharing", "expected"), [(1, 800 * GB), (8, 800 * GB), (16, 400 * GB)])
def test_a_node_sends_the_part_of_the_model_that_its_gpus_hold(sharing, expected):
    assert node_gradient_bytes(sharing) == pytest.approx(2 * expected, rel=2e-3)


def test_tokens_of_the_step_keep_the_gpus_busy():
    story = rebuild_story(1, 0.4)
    assert 6 * 400e9 * story.tokens / (16_384 * 989.4e12 * 0.4) == pytest.approx(0.4, rel=1e-3)


def test_before_nothing_is_slow_and_nothing_is_lost():
    before = healthy_symptoms()
    assert before.lost == 0
    assert before.slower == 1
    assert before.everyone == pytest.approx(before.others, rel=2e-3)


@pytest.mark.parametrize("loss", [5e-4, 2e-3, 5e-3, 1e-2])
def test_the_slow_gpu_makes_the_same_step_as_the_lossy_port(loss):
    assert symptoms("gpu", loss).step == pytest.approx(symptoms("loss", loss).step, rel=1e-4)


def test_only_the_lossy_port_leaves_gaps():
    assert {key for key in EXPLANATIONS if symptoms(key, 5e-3).lost > 0} == {"loss"}


def test_a_loss_of_eight_in_a_thousand_looks_like_half_a_port_to_every_test_of_speed():
    lossy, half = symptoms("loss", 8e-3), symptoms("half", 8e-3)
    assert lossy.step == pytest.approx(half.step, rel=0.01)
    assert lossy.everyone == pytest.approx(half.everyone, rel=0.01)
    assert lossy.others == pytest.approx(half.others)


def test_gaps_are_the_losses_that_going_back_meets():
    found = symptoms("loss", 5e-3)
    delivered = found.everyone / 4096
    assert found.lost / (found.lost + delivered) == pytest.approx(5e-3)


def test_uplinks_that_a_ring_does_not_fill_change_nothing():
    assert symptoms("spine", 5e-3).step == pytest.approx(healthy_symptoms().step)


def test_a_slower_port_never_makes_a_shorter_step():
    times = [hunt_step_time(rate * GB) for rate in (50, 40, 30, 20, 10, 5)]
    assert times == sorted(times)
    assert times[-1] > 2 * times[0]
