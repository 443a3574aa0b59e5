"""The times of a job against published and hand-worked ones."""

from dataclasses import replace

import pytest

from engine.core.units import HOUR
from engine.form.what_if.inputs import Inputs, run_and_changes
from engine.simulate.job.job_events import RunLength, decades, event_counts, event_times
from engine.simulate.step.what_if import run_step_time

RUN, _ = run_and_changes(Inputs(model="llama-3-405b", world_size=16_384, pipeline_parallel=16))
LENGTH = RunLength(tokens=15.6e12, checkpoint=60.0, gpu_mtbf=50_677 * HOUR)
TIMES = event_times(RUN, run_step_time(RUN), LENGTH)


def test_llama_3_was_interrupted_every_three_hours():
    assert TIMES["mtbf"] == pytest.approx(54 * 24 * HOUR / 419, rel=1e-3)


def test_a_run_is_its_tokens_in_steps():
    training = RUN.training
    steps = 15.6e12 / (training.global_batch_size * training.sequence_length)
    assert TIMES["run"] == pytest.approx(steps * run_step_time(RUN).total)


def test_the_gradients_of_all_layers_are_all_gradients():
    assert TIMES["bucket"] * event_counts(RUN)["bucket"] == pytest.approx(TIMES["gradients"])


def test_from_a_millisecond_to_a_second_are_three_decades():
    assert decades(1e-3, 1.0) == pytest.approx(3)


def test_a_stage_sends_ahead_and_back_for_every_micro_batch_and_piece():
    plan = replace(RUN.plan, virtual_pipeline=2)
    rounds = event_counts(RUN)["microbatch"]
    assert RUN.plan.virtual_pipeline == 1
    assert event_counts(RUN)["send"] == 2 * rounds
    assert event_counts(replace(RUN, plan=plan))["send"] == 4 * rounds
