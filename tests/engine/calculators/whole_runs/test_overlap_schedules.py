"""One job under five schedules: each is a run of the estimate, and what is drawn adds up to it."""

from dataclasses import replace
from itertools import pairwise

import pytest

from engine.calculator import load
from engine.calculators.whole_runs.overlap_schedules import PRESETS
from engine.core.registry import module
from engine.core.units import Gbit
from engine.form.overlap import SCHEDULES, Inputs, overlap_run
from engine.simulate.overlap.schedule_step import (
    schedule_outcome,
    schedule_outcomes,
)
from engine.simulate.step.step_time import step_time
from engine.simulate.streams.streams import program_length
from tests.each import each

DEFAULT = Inputs()
ALL = each("name", SCHEDULES)
JOBS = each("changes", [{}, *PRESETS.values()], ids=["defaults", *PRESETS])


def found(**changes):
    return schedule_outcomes(overlap_run(replace(DEFAULT, **changes)))


def text(view, key):
    return load("overlap_schedules").compute(replace(DEFAULT, schedule=key), only=[view])[view]


@ALL
@JOBS
def test_the_stretches_of_a_step_add_up_to_the_estimate(name, changes):
    one = found(**changes)[name]
    run = one.run
    stretches = one.stretches
    assert all(later.start == earlier.end for earlier, later in pairwise(stretches))
    total = step_time(run.model, run.cluster, run.plan, run.training).total
    assert stretches[-1].end == pytest.approx(total, rel=1e-12)


@each("name", ["sharded", "async", "paired"])
@JOBS
def test_all_micro_batches_played_unit_by_unit_take_what_the_estimate_says(name, changes):
    one = found(**changes)[name]
    program = module("engine.simulate.programs", "fully_sharded").program
    played = program_length(program(replace(one.work, num_microbatches=one.microbatches)))
    around = one.pipeline + one.bubble + one.optimizer + one.other
    assert played + around == pytest.approx(one.step, rel=5e-3)


@ALL
@JOBS
def test_the_residue_never_reaches_zero(name, changes):
    assert found(**changes)[name].residue > 0


def test_blocking_waits_for_every_reduction_and_buckets_for_the_last():
    steps = found()
    assert steps["blocking"].data == pytest.approx(steps["blocking"].data_part("alone"))
    assert steps["buckets"].data < 0.2 * steps["blocking"].data


def test_a_run_that_keeps_its_own_sharding_keeps_it_under_buckets():
    run = overlap_run(DEFAULT)
    second = replace(run, plan=replace(run.plan, zero_stage=2))
    one = schedule_outcome(second, "buckets")
    assert one.run == second
    assert schedule_outcome(second, "async").run.plan.zero_stage == 3


@each("pair", [("blocking", "buckets"), ("sharded", "async"), ("async", "paired")])
def test_hiding_more_is_faster(pair):
    steps = found()
    assert steps[pair[0]].step > steps[pair[1]].step


def test_paired_passes_differ_in_the_bubble_alone():
    steps = found()
    apart = steps["async"].step - steps["paired"].step
    assert apart == pytest.approx(steps["async"].bubble - steps["paired"].bubble)


def test_full_sharding_sends_parameters_twice_and_gradients_once_in_every_micro_batch():
    # fp32 gradients: 2 + 2 + 4 bytes against 2 x 4 of an all-reduce, 16 times.
    steps = found()
    once = steps["buckets"].data_part("sent")
    assert steps["sharded"].data_part("sent") == pytest.approx(16 * once)


def test_a_slower_network_never_exposes_less():
    ports = [found(port=port * Gbit)["sharded"].data for port in (800, 400, 100)]
    assert ports == sorted(ports)


def test_one_gpu_exposes_nothing():
    alone = found(tensor_parallel="1", pipeline_parallel="1", data_parallel=1)
    assert [one.exposed for one in alone.values()] == [0] * 5


def test_without_a_pipeline_there_is_no_bubble():
    assert [one.bubble for one in found(pipeline_parallel="1").values()] == [0] * 5


@ALL
@each("model", ["llama-3-70b", "gpt-3-175b"])
@each("stages", ["1", "4"])
def test_the_timeline_draws_at_most_800_spans(name, model, stages):
    inputs = replace(DEFAULT, schedule=name, model=model, pipeline_parallel=stages)
    view = load("overlap_schedules").compute(inputs, only=["timeline"])["timeline"]
    assert len(view.spans) <= 800


def test_the_stacked_timelines_draw_at_most_800_spans():
    view = load("overlap_schedules").compute(
        replace(DEFAULT, num_microbatches=128), only=["stacked"]
    )["stacked"]
    assert len(view.spans) <= 800


@ALL
def test_a_span_waits_only_for_spans_that_are_drawn(name):
    view = text("timeline", name)
    keys = {span.key for span in view.spans}
    assert {key for span in view.spans for key in span.after} <= keys


@ALL
def test_no_key_of_a_timeline_occurs_twice(name):
    keys = [span.key for span in text("timeline", name).spans]
    assert len(keys) == len(set(keys))


@ALL
def test_the_spans_of_a_lane_do_not_overlap(name):
    lanes = {}
    for span in text("timeline", name).spans:
        lanes.setdefault(span.lane, []).append((span.start, span.end))
    ordered = [sorted(lane) for lane in lanes.values()]
    pairs = [pair for lane in ordered for pair in pairwise(lane)]
    assert all(later[0] >= earlier[1] - 1e-9 for earlier, later in pairs)
