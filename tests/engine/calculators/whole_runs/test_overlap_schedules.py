"""One job under five schedules: parts add up, the order is one, nothing reaches zero."""

from dataclasses import replace
from itertools import pairwise

import pytest

from engine.calculator import load
from engine.calculators.whole_runs.overlap_schedules import PRESETS
from engine.core.registry import module
from engine.core.units import GB, MB, Gbit
from engine.form.overlap.inputs import SCHEDULES, Inputs, overlap_job
from engine.simulate.overlap.overlap_job import build_overlap_job
from engine.simulate.overlap.overlap_step import PROGRAMS, schedule_outcomes
from engine.simulate.streams.stream_account import step_account
from engine.simulate.streams.streams import run_program
from tests.each import each

DEFAULT = Inputs()
ALL = each("name", SCHEDULES)


def found(**changes):
    setting = overlap_job(replace(DEFAULT, **changes))
    return schedule_outcomes(setting, build_overlap_job(setting))


def text(view, key):
    return load("overlap_schedules").compute(replace(DEFAULT, schedule=key), only=[view])[view]


@ALL
@each("changes", [{}, *PRESETS.values()], ids=["defaults", *PRESETS])
def test_the_residue_never_reaches_zero(name, changes):
    assert found(**changes)[name].residue > 0


@ALL
def test_many_micro_batches_cost_what_their_simulation_does(name):
    inputs = replace(DEFAULT, num_microbatches=6, deviation=0.0, pipeline_parallel="1")
    setting = overlap_job(inputs)
    work = build_overlap_job(setting)
    pieces = 8 if name in ("async", "paired") else 1
    program = module("engine.simulate.programs", PROGRAMS[name]).program
    whole = replace(work.work, num_microbatches=6, tensor_chunks=pieces)
    simulated = step_account(run_program(program(whole))).length
    assert schedule_outcomes(setting, work)[name].step == pytest.approx(simulated, rel=1e-9)


def test_blocking_hides_nothing():
    one = found()["blocking"]
    assert one.exposed == pytest.approx(one.communication)


@each("pair", [("blocking", "buckets"), ("sharded", "async"), ("async", "paired")])
def test_without_contention_hiding_more_is_faster(pair):
    steps = found(slow_down=0.0)
    assert steps[pair[0]].step > steps[pair[1]].step


def test_with_contention_sharding_is_slower_than_buckets():
    steps = found()
    assert steps["sharded"].step > steps["buckets"].step


def test_async_tensor_parallelism_exposes_an_eighth_and_nothing_of_the_second_gather():
    steps = found(data_parallel=1)
    work = build_overlap_job(overlap_job(replace(DEFAULT, data_parallel=1))).work
    again = work.layers * 16 * work.tensor_gather  # one in every backward pass
    assert steps["async"].exposed == pytest.approx((steps["sharded"].exposed - again) / 8)


def test_blocking_waits_for_the_second_gather_too():
    steps = found(data_parallel=1)
    assert steps["blocking"].exposed == pytest.approx(steps["blocking"].communication)


def test_larger_buckets_send_fewer_messages():
    few, many = found(bucket=2 * GB)["buckets"], found(bucket=1 * MB)["buckets"]
    assert few.isolated < many.isolated


def test_deeper_prefetch_never_waits_longer():
    exposed = [found(prefetch=depth)["sharded"].exposed for depth in range(5)]
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairwise(exposed))


def test_a_slower_network_never_exposes_less():
    ports = [found(port=port * Gbit, slow_down=0.0)["sharded"].exposed for port in (800, 400, 100)]
    assert ports == sorted(ports)


def test_one_gpu_exposes_nothing():
    alone = found(tensor_parallel="1", pipeline_parallel="1", data_parallel=1)
    assert [one.exposed for one in alone.values()] == [0] * 5


def test_without_a_pipeline_there_is_no_bubble():
    assert [one.bubble for one in found(pipeline_parallel="1").values()] == [0] * 5


def test_the_bubble_of_1f1b_is_a_micro_batch_for_every_other_stage():
    two, three = (found(num_microbatches=m, deviation=0.0)["blocking"] for m in (2, 3))
    each = (three.step - three.bubble) - (two.step - two.bubble)
    assert three.bubble == pytest.approx((4 - 1) * each)


def test_wire_alone_is_shorter_than_the_collectives_alone():
    for changes in ({}, *PRESETS.values()):
        wire = build_overlap_job(overlap_job(replace(DEFAULT, **changes))).line_rate
        assert all(one.sent / wire < one.isolated for one in found(**changes).values())


@ALL
def test_the_timeline_draws_at_most_800_spans(name):
    assert len(text("timeline", name).spans) <= 800


def test_the_stacked_timelines_draw_at_most_800_spans():
    assert len(text("stacked", "paired").spans) <= 800


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
