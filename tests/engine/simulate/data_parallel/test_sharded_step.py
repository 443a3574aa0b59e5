"""A played step of a sharded job is the estimate's step, to rounding."""

import random
from dataclasses import replace

import pytest

from engine.calculators.data_parallelism import hybrid_lab
from engine.simulate.data_parallel.sharded_step import (
    ShardedSetting,
    setting_run,
    sharded_step_length,
    sharded_step_times,
    simulate_sharded_step,
)
from engine.simulate.step.step_time import step_time

JOB = ShardedSetting(model="llama-3-8b", gpu="h100", ranks=64, tokens=4096, port=50e9)
FAMILIES = {0: ("fsdp", "megatron"), 1: ("megatron", "deepspeed"), 2: ("megatron", "deepspeed")}


def estimate(setting):
    run = setting_run(setting)
    return step_time(run.model, run.cluster, run.plan, run.training)


@pytest.mark.parametrize("seed", range(150))
def test_the_spans_of_any_job_end_when_the_estimate_says(seed):
    draw = random.Random(seed)
    stage = draw.choice([0, 1, 2, 3, 3])
    setting = replace(
        JOB,
        model=draw.choice(["llama-3-8b", "llama-2-13b", "llama-3-70b"]),
        ranks=draw.choice([2, 8, 16, 64, 256, 2048]),
        tokens=draw.choice([512, 2048, 4096, 16384]),
        port=draw.choice([3e9, 12.5e9, 50e9, 100e9]),
        zero_stage=stage,
        framework=draw.choice(FAMILIES.get(stage, ("fsdp",))),
        num_microbatches=draw.choice([1, 2, 4]),
        gradient=draw.choice(["", "bf16", "fp32"]),
        shard=draw.choice([0, 8, 16]) if stage == 3 else 0,
    )
    step = estimate(setting)
    ran = simulate_sharded_step(setting)
    assert ran.step == pytest.approx(step.total, rel=1e-9)
    # Passes alone, what channels take of them, and the waits: the estimate's parts.
    assert ran.step - ran.closing - step.compute == pytest.approx(step.data_parallel, rel=1e-6)
    assert ran.closing == pytest.approx(step.optimizer + step.other)


@pytest.mark.parametrize("gradients", ["fp32", "bf16"])
def test_the_advice_on_widths_is_the_estimates(gradients):
    inputs = hybrid_lab.Inputs(gradients=gradients)
    found = hybrid_lab.solve(inputs).fastest()[gradients]
    times = {
        2**power: estimate(hybrid_lab.setting_of(inputs, 2**power)).total for power in range(1, 8)
    }
    assert found[0] == min(times, key=times.__getitem__)
    assert found[1:] == pytest.approx((times[found[0]], times[128]))


def test_the_type_of_the_gradients_turns_the_advice_around():
    # 8B on 128 GPUs at 100 Gb/s: all GPUs against a node of eight.
    node, whole = {}, {}
    for gradients in ("fp32", "bf16"):
        inputs = hybrid_lab.Inputs(gradients=gradients)
        node[gradients] = sharded_step_length(hybrid_lab.setting_of(inputs, 8))
        whole[gradients] = sharded_step_length(hybrid_lab.setting_of(inputs, 128))
    assert whole["fp32"] < node["fp32"]
    assert node["bf16"] < whole["bf16"]


@pytest.mark.parametrize("stage", range(4))
def test_a_step_of_which_only_times_are_asked_takes_the_same(stage):
    slow = replace(JOB, port=12.5e9, zero_stage=stage)
    seen, only = simulate_sharded_step(slow), sharded_step_times(slow)
    assert only.exposed == seen.account.exposed
    assert only.length == seen.step == sharded_step_length(slow)
    assert only.compute == pytest.approx(seen.account.compute)


def test_a_unit_of_several_layers_moves_the_same_bytes_in_fewer_calls():
    one, four = simulate_sharded_step(JOB), simulate_sharded_step(replace(JOB, unit=4))
    assert four.sent == one.sent
    assert len(four.spans) == pytest.approx(len(one.spans) / 4, abs=6)
    assert four.peak - four.states.total > 3 * (one.peak - one.states.total)


def test_a_second_gather_inside_the_node_costs_an_eighth_of_the_parameters():
    slow = replace(JOB, port=12.5e9, gradient="bf16")
    whole, inside = simulate_sharded_step(slow), simulate_sharded_step(replace(slow, again=8))
    assert inside.account.exposed < whole.account.exposed
    unit, units = 2 * whole.job.work.parameters, whole.job.work.layers
    # Beside it, at most one unit more is gathered at once.
    assert 0.9 * unit * units / 8 < inside.peak - whole.peak < unit * units / 8 + unit
