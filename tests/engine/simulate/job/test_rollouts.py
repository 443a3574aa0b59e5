"""Responses of unequal lengths: every token is made, and the longest sets the end."""

from dataclasses import replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.rollout_steps import ENGINE_GAP, FASTEST, ROLLOUT_STEPS, SLOWEST
from engine.core.units import Gbit
from engine.run.parallelism import Cluster, Training
from engine.simulate.job.generation import ServingJob, forward_pass
from engine.simulate.job.reinforcement import MODES, RlJob, rl_memory, rl_step, with_split
from engine.simulate.job.rollouts import (
    RolloutRequest,
    cache_tokens,
    engine_slots,
    mean_response_length,
    response_lengths,
    run_engines,
    steady_token_rate,
    unfinished_share,
)
from engine.simulate.layer.device_model import rank_rates
from tests.each import each

MODEL = MODELS["qwen2.5-7b"]
CLUSTER = Cluster(
    gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=400 * Gbit
)
RANK = rank_rates(CLUSTER, Training(micro_batch_size=1, global_batch_size=1, sequence_length=1024))
EVEN = RolloutRequest(
    responses=64, per_prompt=8, prompt=512, median=1000, spread=0.0, longest=16_384
)
LONG = replace(EVEN, spread=1.2)
SETUP = RlJob(
    model=MODEL, cluster=CLUSTER, world_size=16, generating=8, engine=1, request=replace(LONG)
)


def one_pass(batch, context):
    serving = ServingJob(model=MODEL, rank=RANK, ranks=1, batch=batch, prompt=1, new_tokens=1)
    return forward_pass(serving, "tensor", 1, context).time + ENGINE_GAP


def prompts(count):
    serving = ServingJob(model=MODEL, rank=RANK, ranks=1, batch=1, prompt=512, new_tokens=1)
    return count * forward_pass(serving, "tensor", 512, 512).time


def test_equal_lengths_take_as_many_passes_as_a_response_has_tokens():
    engine = run_engines(MODEL, RANK, 1, 4, EVEN, 256)[0]
    # 16 responses at once, 1,000 passes, each with half of the response before it on the mean.
    expected = prompts(16 / 8) + 1000 * one_pass(16, 512 + 500)
    assert engine.end == pytest.approx(expected, rel=0.01)


def test_with_one_slot_responses_run_one_after_another():
    engine = run_engines(MODEL, RANK, 1, 64, EVEN, 1)[0]
    both = run_engines(MODEL, RANK, 1, 32, EVEN, 1)[0]
    assert both.end == pytest.approx(2 * engine.end - prompts(1 / 8) * 0, rel=0.01)


def test_every_token_is_made_and_every_response_ends_once():
    engines = run_engines(MODEL, RANK, 1, 4, LONG, 8)
    assert sum(one.tokens for one in engines) == sum(response_lengths(LONG))
    assert sum(len(one.ends) for one in engines) == LONG.responses
    assert unfinished_share(engines, 0.0) == 1.0
    assert unfinished_share(engines, max(one.end for one in engines)) == 0.0


def test_the_longest_response_is_the_least_that_a_step_takes():
    engines = run_engines(MODEL, RANK, 1, 64, LONG, 8)
    assert max(one.end for one in engines) >= max(response_lengths(LONG)) * one_pass(1, 512)


def test_lengths_are_those_of_the_distribution_and_cut():
    many = replace(LONG, responses=4096, longest=8192)
    found = sorted(response_lengths(many))
    assert found[2048] == pytest.approx(1000, rel=0.1)
    assert found[-1] == 8192
    # The mean of a lognormal is the median times exp(s^2 / 2), here cut.
    assert 1500 < mean_response_length(many) < 1000 * 2.0545
    assert response_lengths(EVEN) == (1000,) * 64


def test_the_cache_holds_what_is_left_beside_the_weights():
    # By hand: 4 key-value heads of 128, keys and values in 16 bits, 28 layers: 57,344 bytes.
    tokens = cache_tokens(MODEL, 1, 40e9)
    assert cache_tokens(MODEL, 1, 40e9 + 57_344) - tokens == pytest.approx(1.0, rel=1e-3)
    assert engine_slots(EVEN, 1512.0 * 7.5, 256) == 7
    assert engine_slots(EVEN, 0.0, 256) == 1


def test_a_stream_is_faster_than_a_batch_with_a_tail():
    engines = run_engines(MODEL, RANK, 1, 4, LONG, 16)
    batch = sum(one.tokens for one in engines) / 4 / max(one.end for one in engines)
    assert steady_token_rate(MODEL, RANK, 1, LONG, 16) > 1.5 * batch


@each("mode", MODES)
def test_idle_time_is_a_share_and_a_step_is_what_it_waits_for(mode):
    found = rl_step(SETUP, mode)
    learning = found.forwards + found.training
    assert 0 <= found.idle < 1
    assert found.total >= max(found.generation, learning)
    together = found.generation + learning + found.update
    assert found.total <= together * (1 + 1e-12)


def test_nobody_idles_on_the_same_gpus_if_all_responses_are_alike():
    found = rl_step(replace(SETUP, request=EVEN), "colocated")
    assert found.idle == pytest.approx(0.0, abs=1e-9)
    assert found.stale == 0


def test_in_turn_the_idle_time_is_the_other_side():
    found = rl_step(replace(SETUP, request=EVEN), "separate")
    expected = (found.generation + found.forwards + found.training) / 2 / found.total
    assert found.idle == pytest.approx(expected, abs=1e-6)


VERL = RolloutRequest(
    responses=8192, per_prompt=16, prompt=512, median=300, spread=1.3, longest=28_672
)


def verl_step(row):
    cluster, half = replace(CLUSTER, gpu=ACCELERATORS["H20"]), row.world_size // 2
    sizes = {"world_size": row.world_size, "generating": half, "request": VERL, "forwards": 1}
    return rl_step(replace(SETUP, cluster=cluster, **sizes), row.mode)


def test_six_published_steps_are_within_the_range():
    ratios = [row.step / verl_step(row).total for row in ROLLOUT_STEPS]
    assert FASTEST < min(ratios) < FASTEST + 0.1
    assert SLOWEST - 0.1 < max(ratios) < SLOWEST


def test_a_stream_is_faster_where_it_was_measured_to_be():
    # 365.3 against 189.3 s on 64 GPUs, 790.1 against 294.8 on 32, 356.3 against 150.6 on 128.
    steps = {(row.mode, row.world_size): verl_step(row).total for row in ROLLOUT_STEPS}
    gains = [steps["colocated", n] / steps["stream", n] for n in (32, 64, 128)]
    assert min(gains) > 1.1
    assert gains[1] == pytest.approx(365.28 / 189.26, rel=0.2)


def test_lengths_are_chosen_for_the_training_of_the_stream():
    measured = {row.world_size: row.training for row in ROLLOUT_STEPS if row.mode == "stream"}
    found = {row.world_size: verl_step(row).training for row in ROLLOUT_STEPS[3:]}
    assert found[32] == pytest.approx(measured[32], rel=0.05)
    assert found[64] == pytest.approx(measured[64], rel=0.05)


def test_generation_with_a_tail_takes_what_was_measured():
    # On 64 and 128 GPUs the longest response sets the time; on 32 it took twice as long as that.
    for row in ROLLOUT_STEPS[1:3]:
        assert verl_step(row).generation == pytest.approx(row.generation, rel=0.12)


def test_a_stream_has_no_pass_for_log_probabilities():
    reference = replace(SETUP, forwards=2)
    assert rl_step(replace(SETUP, forwards=1), "stream").forwards == 0.0
    one, two = (rl_step(reference, mode).forwards for mode in ("stream", "one_step_off"))
    assert two == pytest.approx(2 * one)


def test_a_split_is_in_whole_engines_and_leaves_somebody_to_train():
    wide = replace(SETUP, engine=4)
    assert [with_split(wide, share).generating for share in (0.0, 0.5, 1.0)] == [4, 8, 12]


def test_a_sleeping_engine_leaves_its_memory_to_training():
    asleep = rl_memory(SETUP, sleeps=True, offloaded=False)
    awake = rl_memory(SETUP, sleeps=False, offloaded=False)
    assert awake[1].total - asleep[1].total == asleep[0].engine + asleep[0].cache
    assert rl_memory(SETUP, sleeps=True, offloaded=True)[0].states == 0.0
    # More GPUs: states shrink in proportion, the engine's part stays.
    more = rl_memory(replace(SETUP, world_size=32), sleeps=True, offloaded=False)
    assert more[0].states == pytest.approx(asleep[0].states / 2, rel=0.01)
    assert more[0].engine + more[0].cache == asleep[0].engine + asleep[0].cache
