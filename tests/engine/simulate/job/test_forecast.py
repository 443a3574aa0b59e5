"""A job from its plan: its parts are the run, and published jobs lie within or near the range."""

from dataclasses import replace

import pytest

from engine.core.units import DAY, HOUR
from engine.form.forecast_jobs import JOBS
from engine.form.run.nearest_valid import nearest_run
from engine.form.saving_inputs import LLAMA3_MTBF
from engine.formulas.goodput import job_mtbf
from engine.simulate.job.failure_process import CheckpointPolicy
from engine.simulate.job.forecast import forecast


def found(key, slower=0.0, interval=HOUR):
    job = JOBS[key]
    run, changes = nearest_run(job.plan)
    assert not changes
    habits = CheckpointPolicy(
        interval=interval,
        checkpoint=60.0,
        restart=600.0,
        mtbf=job_mtbf(LLAMA3_MTBF, run.plan.world_size),
    )
    return run.plan.world_size, forecast(run, job.tokens, habits, slower)


@pytest.mark.parametrize("key", JOBS)
@pytest.mark.parametrize("slower", [0.0, 0.2])
def test_the_parts_are_the_run(key, slower):
    _, one = found(key, slower)
    parts = (getattr(one.parts, name) for name in type(one.parts).__slots__)
    assert sum(parts) == pytest.approx(one.run.wall)
    assert one.early.wall < one.run.wall < one.late.wall


def test_the_hours_of_llama_3_405b_lie_in_the_range():
    # 30.84M GPU hours by the model card, at a failure rate counted in the same run.
    gpus, one = found("405b")
    published = JOBS["405b"].gpu_time
    assert one.early.wall * gpus < published < one.late.wall * gpus


def test_the_hours_of_deepseek_v3_lie_in_the_range():
    gpus, one = found("deepseek-v3")
    assert one.early.wall * gpus < JOBS["deepseek-v3"].gpu_time < one.late.wall * gpus


def test_a_slow_gpu_costs_its_computation_and_nothing_else():
    _, even = found("70b")
    _, odd = found("70b", slower=0.1)
    computed = even.step.compute + even.step.optimizer
    assert odd.parts.slow_gpu == pytest.approx(computed * even.steps * (1 / 0.9 - 1))
    assert odd.parts.exposed == even.parts.exposed


def test_steps_times_tokens_are_the_tokens():
    _, one = found("gpt-1t")
    assert one.steps * 3072 * 2048 == pytest.approx(450e9)
    assert one.run.wall > 60 * DAY


def test_twice_the_gpus_can_take_longer():
    run, _ = nearest_run(replace(JOBS["405b"].plan, world_size=32_768))
    habits = CheckpointPolicy(
        interval=HOUR, checkpoint=60.0, restart=600.0, mtbf=job_mtbf(LLAMA3_MTBF, 32_768)
    )
    twice = forecast(run, JOBS["405b"].tokens, habits, 0.0)
    _, once = found("405b")
    assert twice.step.total < once.step.total
    assert twice.run.wall > once.run.wall
