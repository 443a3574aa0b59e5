"""One job gives one answer: explorer, levers, overlap lab, estimate and modeler, over all presets.

Times are ordered (wire, alone, waits), parts add up, and what does not fit is never ranked,
recommended or given a rate.
"""

import math
from dataclasses import fields, replace
from functools import cache

import pytest

from engine.calculator import load
from engine.core.text import render_text
from engine.estimate import estimate
from engine.form.overlap import SCHEDULES
from engine.form.run.form_values import inputs_of
from engine.run.parallelism import num_microbatches
from engine.run.stage_cut import uneven_pieces
from engine.simulate.step.axis_wires import axis_times
from tests.each import each


def cases(*names):
    return [(name, preset) for name in names for preset in ("", *load(name).presets)]


def asked(name, preset):
    calculator = load(name)
    return replace(calculator.inputs(), **calculator.presets.get(preset, {}))


@cache
def solved(name, preset):
    return load(name).solve(asked(name, preset))


def job_of(name, preset):
    """The levers' record of a job: the explorer holds one too."""
    found = solved(name, preset)
    return found.job.levers if name == "stack_explorer" else found.job


JOBS = each(("name", "preset"), cases("stack_explorer", "levers"))
EXPLORER = each("preset", ["", *load("stack_explorer").presets])
LABS = each("preset", ["", *load("overlap_schedules").presets])
BATCHES = each("preset", ["", *load("largest_batch").presets])


@JOBS
def test_the_step_is_that_of_the_estimate_of_the_same_run(name, preset):
    job = job_of(name, preset)
    assert job.step_time == estimate(job.run)["step_time"]


@JOBS
def test_what_waits_is_what_the_estimate_says_waits(name, preset):
    job = job_of(name, preset)
    parts = estimate(job.run)["time"]
    waits = ("tensor_parallel", "context_parallel", "expert_parallel", "pipeline", "data_parallel")
    assert job.exposed == pytest.approx(sum(parts[part] for part in waits))


@JOBS
def test_memory_and_whether_it_fits_are_those_of_the_estimate(name, preset):
    job = job_of(name, preset)
    found = estimate(job.run)
    assert (job.fit.needed, job.fit.runs) == (found["memory_process"], found["fits"])


@JOBS
def test_a_run_given_to_the_estimate_comes_back_as_it_was(name, preset):
    run = job_of(name, preset).run
    found = load("estimate_run").solve(inputs_of(run))
    assert (found.estimate.run, found.changes) == (run, ())


@JOBS
def test_the_estimate_calls_the_same_plan_possible(name, preset):
    run = job_of(name, preset).run
    shown = load("estimate_run").compute(inputs_of(run), only=["possible"])["possible"]
    expected = "Uneven" if uneven_pieces(run.model, run.plan, run.training.schedule) else "Possible"
    assert shown.text in (expected, "Doubtful")


@EXPLORER
def test_the_explorer_says_what_the_estimate_says_of_the_plan(preset):
    run = solved("stack_explorer", preset).job.run
    theirs = load("estimate_run").compute(inputs_of(run), only=["possible", "fits", "mfu"])
    ours = load("stack_explorer").compute(
        asked("stack_explorer", preset), only=["possible", "fits", "mfu"]
    )
    assert ours["possible"] == theirs["possible"]
    assert ours["fits"] == theirs["fits"]
    assert ours["mfu"].value == theirs["mfu"].value


def modeler_inputs(run):
    """The modeler's inputs of a run."""
    calculator = load("parallelism_modeler")
    given = inputs_of(run)
    shared = {field.name for field in fields(calculator.inputs)} & {
        field.name for field in fields(type(given))
    }
    taken = {name: getattr(given, name) for name in shared}
    return calculator.inputs(
        **taken
        | {
            "data_parallel": run.plan.data_parallel,
            "num_microbatches": num_microbatches(run.plan, run.training),
            "overlap": run.training.overlap_tensor_parallel,
        }
    )


@JOBS
def test_the_modeler_gives_the_same_run_the_same_step_and_memory(name, preset):
    job = job_of(name, preset)
    theirs = load("parallelism_modeler").solve(modeler_inputs(job.run)).plan
    assert theirs.run == job.run
    assert theirs.step.total == job.step_time
    assert max(stage.memory.total for stage in theirs.stages) == pytest.approx(job.fit.needed)


@EXPLORER
def test_the_explorers_axes_are_the_modelers(preset):
    job = solved("stack_explorer", preset).job
    theirs = load("parallelism_modeler").solve(modeler_inputs(job.run)).plan.axes
    ours = [(wire.key, wire.sent, wire.messages, wire.alone, wire.exposed) for wire in job.wires]
    assert ours == [
        (axis.key, axis.sent, axis.messages, axis.alone, axis.exposed) for axis in theirs
    ]


def fullest(run):
    """Layers of the fullest stage over those of a mean one: bytes are of the mean, waits not."""
    sizes = uneven_pieces(run.model, run.plan, run.training.schedule)
    if not sizes:
        return 1.0
    stages = run.plan.pipeline_parallel
    each = [sum(sizes[stage::stages]) for stage in range(stages)]
    return max(each) * stages / run.model.num_layers


@JOBS
def test_wire_is_shorter_than_alone_and_waits_are_no_longer(name, preset):
    job = job_of(name, preset)
    more = fullest(job.run) * (1 + 1e-9)
    for wire in axis_times(job.run, job.step):
        assert 0 < wire.at_line_rate < wire.alone
        assert wire.exposed <= wire.alone * more
        assert wire.exposed <= job.step_time


@JOBS
def test_the_parts_of_the_step_add_up(name, preset):
    step = job_of(name, preset).step
    parts = [getattr(step, field.name) for field in fields(step)]
    assert sum(parts) == pytest.approx(step.total)
    assert min(parts) >= 0


@EXPLORER
def test_the_times_of_a_message_add_up(preset):
    for message in solved("stack_explorer", preset).messages.values():
        parts = message.launch, message.hop, message.wire, message.loss
        assert math.fsum(parts) == pytest.approx(message.time)


@EXPLORER
def test_a_part_is_no_longer_than_the_whole(preset):
    times = solved("stack_explorer", preset).times
    assert times["gemm"] <= times["layer"] <= times["microbatch"] <= times["step"] <= times["run"]
    assert times["bucket"] <= times["gradients"]


@JOBS
def test_what_does_not_fit_is_not_ranked(name, preset):
    job = job_of(name, preset)
    assert all(gain.fit.verdict == "fits" for gain in job.gains) or job.fit.verdict == "tight"
    assert job.fit.runs or not job.gains


@JOBS
def test_what_does_not_fit_is_not_recommended(name, preset):
    calculator = load(name)
    job = job_of(name, preset)
    shown = calculator.compute(asked(name, preset), only=["first", "tornado", "levers"])
    unfit = {gain.lever.label for gain in job.unfit}
    assert shown["first"].text not in unfit
    assert not unfit & {bar.label for bar in shown["tornado"].bars}
    speeds = {row[0]: render_text(row[2]) for row in shown["levers"].rows}
    assert all(speeds[gain.lever.label] == gain.fit.verdict != "fits" for gain in job.unfit)


@each("gpus", [1, 8, 131_072])
def test_at_the_ends_of_the_scale_what_does_not_fit_has_no_rate(gpus):
    shown = load("stack_explorer").compute(replace(asked("stack_explorer", ""), world_size=gpus))
    fits = shown["fits"].text == "Fits"
    assert (shown["token_rate"].value > 0) == fits
    assert math.isfinite(shown["cost_of_tokens"].value) == fits


@BATCHES
def test_a_batch_that_does_not_fit_has_no_speed(preset):
    found = solved("largest_batch", preset)
    assert (found.token_rate > 0) == found.batch_fit.fit.runs
    assert (found.batch_fit.fit.verdict == "fits") == (
        asked("largest_batch", preset).micro_batch_size <= found.largest
    )


@BATCHES
def test_a_batch_has_the_memory_and_the_verdict_of_the_estimate(preset):
    found = solved("largest_batch", preset)
    given = inputs_of(found.batch_fit.run)
    assert found.total == pytest.approx(estimate(found.batch_fit.run)["memory_process"])
    ours = load("largest_batch").compute(asked("largest_batch", preset), only=["possible"])
    assert ours == load("estimate_run").compute(given, only=["possible"])


@BATCHES
def test_the_parts_of_memory_add_up(preset):
    found = solved("largest_batch", preset)
    parts = ("parameters", "gradients", "optimizer", "activations", "buffers", "reserve")
    assert sum(getattr(found, part) for part in parts) == pytest.approx(found.total)


@LABS
@each("schedule", SCHEDULES)
def test_every_schedule_keeps_the_order_of_its_times(preset, schedule):
    found = load("overlap_schedules").solve(
        replace(asked("overlap_schedules", preset), schedule=schedule)
    )
    assert found.wire_minimum < found.isolated
    assert found.waited <= found.isolated * (1 + 1e-9)
    assert found.waited <= found.exposed <= found.step_time
    one = found.outcomes[schedule]
    assert one.exposed <= one.communication * (1 + 1e-9)


@LABS
@each("schedule", SCHEDULES)
def test_every_schedule_is_a_run_of_the_estimate(preset, schedule):
    one = solved("overlap_schedules", preset).outcomes[schedule]
    assert one.step == pytest.approx(estimate(one.run)["step_time"], rel=1e-12)
    residue = one.inside + one.data + one.pipeline + one.bubble + one.optimizer + one.other
    assert one.compute + residue == pytest.approx(one.step)


@each("preset", ["", *load("job_time").presets])
def test_the_parts_of_a_run_add_up(preset):
    found = solved("job_time", preset)
    parts = found.steps + found.checkpoints + found.redone + found.restarts
    assert parts == pytest.approx(found.wall_time)
    assert found.at_peak <= found.work_time <= found.steps <= found.wall_time
