"""Every page that states the time or the GPU-hours of a run states the forecast's."""

import importlib
from dataclasses import replace
from typing import get_type_hints

import pytest

from engine.calculator import load, module_of, names
from engine.core.outputs import Output
from engine.core.units import DAY, GPU_TIME, HOUR
from engine.form.forecast_jobs import JOBS
from engine.form.planner.story import CHAPTERS, job_of_chapter
from engine.form.run.nearest_valid import nearest_run
from engine.simulate.job.forecast import forecast, job_run

STATED = (
    "run takes",
    "whole run",
    "gpu hours",
    "gpu-hours",
    "if nothing fails",
    "mean of all lives",
)
# What carries such a name or unit and is not the time of a run, or is tested by itself below.
OTHERS = {
    ("capstone", "time"): "of the reader's plan",
    ("depth_story", "deep_time"): "of a million tokens",
    ("depth_story", "wide_time"): "of a million tokens",
    ("job_planner", "days"): "of the planner's best plan, as its step times its number of steps",
    ("job_time", "in_the_end"): "the steps times what published runs took over theirs",
    ("job_time", "slow_gpu"): "a part of the run",
    ("stuck_job", "lost"): "of the wait of a run that hangs",
    ("parallelism_modeler", "token_time"): "of a million tokens",
    ("planner", "days"): "of the plan that the search finds",
    ("run_cost", "in_the_end"): "the steps times what published runs took over theirs",
    ("slot_run", "mean"): "a toy, in slots",
    ("sweep_result", "time"): "as a sweep file of the reader has it",
}


def stated_outputs(name):
    """Yield the outputs of a calculator whose label or unit is that of a whole run."""
    module = importlib.import_module(module_of(name))
    result = getattr(module, "Result", None) or get_type_hints(module.solve).get("return")
    hints = get_type_hints(result, include_extras=True) if isinstance(result, type) else {}
    for field, hint in hints.items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, Output) and _says_run(mark, hint):
                yield field


def _says_run(output, hint):
    label = output.label.lower()
    return any(words in label for words in STATED) or GPU_TIME in hint.__metadata__


def declared(name):
    return getattr(importlib.import_module(module_of(name)), "RUNS", {})


ALL = [(name, field) for name in names() for field in stated_outputs(name)]


def test_no_page_states_a_run_without_declaring_it():
    undeclared = [pair for pair in ALL if pair[1] not in declared(pair[0]) and pair not in OTHERS]
    assert not undeclared


def test_the_pages_that_are_known_to_state_a_run_are_found():
    assert {"job_time", "run_cost", "run_forecast", "failure_lives", "planner", "capstone"} <= {
        name for name, _ in ALL
    }


@pytest.mark.parametrize("name", [name for name in names() if declared(name)])
def test_a_page_states_the_forecast_at_its_defaults_and_every_preset(name):
    calculator = load(name)
    for settings in ({}, *calculator.presets.values()):
        inputs = calculator.inputs(**settings)
        result = calculator.solve(inputs)
        for field, terms in declared(name).items():
            wall = job_run(terms(inputs)).wall
            gpus = getattr(inputs, "num_gpus", 0) or getattr(result, "num_gpus", 0)
            hours = field in ("gpu_hours", "gpu_time")
            assert getattr(result, field) == pytest.approx(wall * gpus if hours else wall, rel=5e-3)


def modeled_405b(policy=None):
    run, changes = nearest_run(JOBS["405b"].plan)
    assert not changes
    return forecast(run, JOBS["405b"].tokens, policy).run.wall


def result_of(name, **settings):
    calculator = load(name)
    return calculator.solve(calculator.inputs(**settings))


def test_llama_3_405b_takes_as_long_on_every_page():
    job = result_of("job_time")
    whole = result_of("run_forecast", job="405b", tokens=JOBS["405b"].tokens)
    explorer = result_of("stack_explorer")
    for time in (whole.wall_time, explorer.forecast_time):
        assert job.wall_time == pytest.approx(time, rel=5e-3)
    for time in (job.work_time, whole.work_time, explorer.run_time):
        assert time == pytest.approx(modeled_405b(), rel=5e-3)
    lives = result_of("failure_lives")
    assert lives.steps == pytest.approx(modeled_405b(), rel=5e-3)
    assert lives.wall == pytest.approx(job.wall_time, rel=5e-3)
    typed = result_of("failure_lives", job="own", work=job.work_time)
    assert typed.wall == pytest.approx(job.wall_time, rel=5e-3)


def test_the_planner_states_the_forecast_of_its_plan():
    calculator = load("planner")
    inputs = replace(calculator.inputs(), world_size=8)
    answer = calculator.solve(inputs)
    assert answer.days == pytest.approx(
        forecast(answer.run, inputs.tokens, None).run.wall, rel=5e-3
    )


def test_the_capstone_states_the_forecast_of_the_readers_plan():
    module = importlib.import_module(module_of("capstone"))
    inputs = module.Inputs(own_tensor="4", own_pipeline="4")
    own = module._own_plan(inputs)
    _, run, tokens = job_of_chapter(CHAPTERS[inputs.chapter], own)
    outcome = module.chapter_outcome(CHAPTERS[inputs.chapter], own)
    assert outcome.time == pytest.approx(forecast(run, tokens, None).run.wall, rel=5e-3)


def test_the_jitter_of_gpus_does_not_stretch_a_run_twice():
    even, uneven = (result_of("job_time", deviation=spread) for spread in (0.0, 0.05))
    assert even.wall_time == uneven.wall_time
    assert uneven.slow_down > 1.1


def test_the_example_of_typed_speed_by_hand():
    # 1e12 tokens at 1,000 tokens per second on 1,000 GPUs are a million seconds.
    found = result_of("job_time", speed_from="measured", rate=1000.0, tokens=1e12, num_gpus=1000)
    assert found.work_time == pytest.approx(1e6)
    assert found.work_time / DAY == pytest.approx(11.574, abs=1e-3)
    assert found.work / HOUR == pytest.approx(1e9 / 3600)
