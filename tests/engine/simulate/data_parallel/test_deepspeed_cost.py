"""What stage 1 keeps and sends, as ZeRO's optimizer and as BF16_Optimizer."""

from dataclasses import replace

import pytest

from engine.catalog.models import MODELS
from engine.core.units import Gbit
from engine.formulas.parameters import total_parameters
from engine.run.deepspeed_values import LintJob, read_settings, read_zero_values
from engine.simulate.data_parallel.deepspeed_cost import settings_cost
from engine.simulate.data_parallel.sharded_step import ShardedSetting, setting_run
from engine.simulate.memory.memory import stage_states
from engine.simulate.step.step_time import step_time
from tests.each import each

PARAMETERS = total_parameters(MODELS["llama-3-8b"])
JOB = LintJob(parameters=PARAMETERS, hidden=4096, matrix=4096 * 1024, ranks=64)
SETTING = ShardedSetting(
    model="llama-3-8b",
    gpu="h100",
    ranks=64,
    tokens=4096,
    port=400 * Gbit,
    framework="deepspeed",
)


def values(stage=1, accumulated="fp32", enabled="true", more=""):
    return read_zero_values(
        read_settings(
            f'{{"bf16": {{"enabled": {enabled}}}, '
            f'"data_types": {{"grad_accum_dtype": "{accumulated}"}}, '
            f'"zero_optimization": {{"stage": {stage}, "overlap_comm": true{more}}}}}'
        ),
        JOB,
    )


def test_sums_in_fp32_keep_all_gradients_twice():
    # 2 bytes of parameters, 2 + 4 of gradients, 12 / 64 of the optimizer: 65.7 GB, not 33.6.
    wide, plain = settings_cost(values(), SETTING), settings_cost(values(2), SETTING)
    assert wide.states.total == pytest.approx((8 + 12 / 64) * PARAMETERS)
    assert wide.states.total == pytest.approx(65.7e9, rel=2e-3)
    half = settings_cost(values(accumulated="bf16"), SETTING)
    assert half.states.total == pytest.approx(33.6e9, rel=2e-3)
    assert plain.states.total < half.states.total
    run = setting_run(replace(SETTING, zero_stage=1, gradient="fp32"))
    assert stage_states(run.model, run.plan, run.training, 0) == wide.states


def test_sums_in_fp32_are_reduced_when_the_backward_pass_is_over():
    wide = settings_cost(values(), SETTING).exposed
    blocking = values(accumulated="bf16", more=', "reduce_scatter": false')
    hidden = settings_cost(blocking, SETTING).exposed
    # 16 GB in bf16 are three times 16 GB over 8 ports of 50 GB/s at 88 %: an all-reduce of
    # gradients and a gather of updated parameters, 137 ms. Only the latter has nothing beside it
    # where reductions overlap.
    once = 2 * PARAMETERS * 63 / 64 / (8 * 50e9 * 0.88)
    assert wide == pytest.approx(3 * once, rel=0.15)
    assert once < hidden < 2 * once


@each("stage", [1, 2])
def test_with_reduce_scatters_the_exposed_time_is_the_estimate_s(stage):
    more = ', "use_multi_rank_bucket_allreduce": false'
    found = settings_cost(values(stage, accumulated="bf16", more=more), SETTING).exposed
    run = setting_run(replace(SETTING, zero_stage=stage))
    parts = step_time(run.model, run.cluster, run.plan, run.training)
    assert found == pytest.approx(parts.data_parallel, rel=1e-12)


def test_without_zero_the_exposed_time_is_the_estimate_s():
    found = settings_cost(values(0, accumulated="bf16"), SETTING).exposed
    run = setting_run(replace(SETTING, zero_stage=0))
    parts = step_time(run.model, run.cluster, run.plan, run.training)
    assert found == pytest.approx(parts.data_parallel, rel=1e-12)


@each(
    "changes",
    [
        {"stage": 2},
        {"accumulated": "bf16"},
        {"enabled": "false"},
        {"more": ', "offload_optimizer": {"device": "cpu"}'},
    ],
)
def test_all_else_runs_as_zero_s_optimizer(changes):
    assert values().whole_gradients
    assert not values(**changes).whole_gradients
