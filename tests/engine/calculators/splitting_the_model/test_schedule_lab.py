"""The schedule lab and the bubble conventions against published numbers and played schedules."""

from dataclasses import replace

import pytest

from engine.calculator import load
from engine.calculators.splitting_the_model import bubble_conventions
from engine.calculators.splitting_the_model.schedule_lab.result import Inputs, schedule_case, search
from engine.core import registry, slices
from engine.core.text import render_text
from engine.core.views import cell_text
from engine.formulas import pipeline
from engine.simulate.pipeline.pipeline import PACKAGE
from engine.simulate.pipeline.schedule_bench import (
    ScheduleResult,
    compare_schedules,
    feasible_setting,
    frontier,
    schedule_result,
    schedule_titles,
)
from tests.engine.calculators.asked import text

LAB = load("schedule_lab")
DEFAULTS = Inputs()
CASE = schedule_case(DEFAULTS)


def lab(**changes):
    return LAB.compute(replace(DEFAULTS, **changes))


@pytest.mark.parametrize(
    ("changes", "output", "expected"),
    [
        ({}, "bubble_share", "27.3 %"),
        ({}, "bubble_over_ideal", "37.5 %"),
        ({}, "peak", "4"),
        ({"schedule": "gpipe"}, "peak", "8"),
        ({"pipeline_parallel": 8, "num_microbatches": 20}, "idle", "21.0 ms"),
        (
            {"schedule": "zb_h1", "pipeline_parallel": 8, "num_microbatches": 20},
            "idle",
            "7.00 ms",
        ),
        (
            {"schedule": "dualpipe", "pipeline_parallel": 8, "num_microbatches": 20},
            "idle",
            "6.00 ms",
        ),
        ({"schedule": "dualpipe"}, "copies", "2"),
        ({"schedule": "zb_h2", "num_microbatches": 12}, "bubble_share", "0.0 %"),
        ({"schedule": "zb_h2", "num_microbatches": 12, "synchronized": True}, "idle", "3.00 ms"),
    ],
)
def test_the_known_numbers(changes, output, expected):
    assert text(lab(**changes), output) == expected


def test_every_schedule_of_the_folder_is_in_the_lab():
    assert set(schedule_titles()) == set(registry.module_names(PACKAGE))


def test_every_schedule_has_a_row():
    rows = lab()["comparison"].rows
    assert [render_text(row[0]).removesuffix(" (shown)") for row in rows] == list(
        schedule_titles().values()
    )


def test_a_schedule_that_cannot_run_says_why_in_its_row():
    rows = {
        render_text(row[0]): cell_text(row[1]) for row in lab(num_microbatches=6)["comparison"].rows
    }
    assert rows["DualPipe"] == "needs two micro-batches per stage or more"


def test_the_readers_schedule_is_played_with_the_nearest_numbers_that_it_allows():
    setting = feasible_setting(replace(CASE, schedule="dualpipe", pipeline_parallel=5))
    assert (setting.pipeline_parallel, setting.num_microbatches) == (4, 8)


def test_more_micro_batches_come_before_fewer_stages():
    setting = feasible_setting(replace(CASE, schedule="dualpipe", num_microbatches=3))
    assert (setting.pipeline_parallel, setting.num_microbatches) == (4, 8)


def test_the_badge_says_with_which_numbers_it_was_played():
    badge = lab(schedule="dualpipe", num_microbatches=3)["regime"]
    assert "4 stages and 8 micro-batches: DualPipe needs" in render_text(badge.sentence)


@pytest.mark.parametrize("change", [{}, {"message": 0.4e-3}, {"slowness": 0.3, "slow_stage": 2}])
def test_a_long_run_drawn_out_from_two_shorter_ones_is_the_played_one(change):
    inputs = replace(CASE, pipeline_parallel=8, num_microbatches=232, **change)
    drawn = slices.run_to_end(compare_schedules(inputs, schedule_result(inputs)))
    long = [one for one in drawn.values() if isinstance(one, ScheduleResult) and one.extrapolated]
    assert len(long) >= 5
    for one in long:
        whole = schedule_result(replace(inputs, schedule=one.name))
        assert one.step == pytest.approx(whole.step)
        assert one.idle_share == pytest.approx(whole.idle_share, abs=1e-9)
        assert (one.peak, one.messages) == (whole.peak, whole.messages)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "Fill and drain"),
        ({"schedule": "zb_v"}, "Compute"),
        ({"num_microbatches": 64, "slowness": 0.5, "slow_stage": 2}, "Straggler"),
        ({"schedule": "zb_v", "num_microbatches": 16, "message": 1e-3}, "Messages"),
        ({"schedule": "zb_h2", "num_microbatches": 12, "synchronized": True}, "Common pause"),
    ],
)
def test_the_badge_names_what_keeps_the_stages_idle(changes, name):
    assert lab(**changes)["regime"].text == name


def test_a_span_waits_for_spans_that_ended_before_it_began():
    for name in schedule_titles():
        view = lab(schedule=name)["timeline"]
        ends = {span.key: span.end for span in view.spans}
        assert len(ends) == len(view.spans)
        assert all(ends[key] <= span.start + 1e-12 for span in view.spans for key in span.after)


def test_every_idle_place_is_explained_by_a_span_that_ends_with_it():
    view = lab()["timeline"]
    ends = {span.key: span.end for span in view.spans}
    first = min(span.start for span in view.spans)
    assert all(
        span.start == first or max(ends[key] for key in span.after) == pytest.approx(span.start)
        for span in view.spans
    )


def test_a_long_step_is_drawn_in_part_and_says_so():
    view = lab(pipeline_parallel=64, num_microbatches=256)["timeline"]
    assert len(view.spans) <= 700
    assert "all figures come from the whole step" in render_text(view.caption)


def test_nobody_on_the_frontier_is_beaten_in_both():
    found = [
        one
        for one in slices.run_to_end(compare_schedules(CASE, schedule_result(CASE))).values()
        if isinstance(one, ScheduleResult)
    ]
    for one in frontier(found):
        assert not any(o.memory < one.memory and o.idle_share < one.idle_share for o in found)


def test_the_published_bubble_forgets_the_stages():
    views = load("bubble_conventions").compute(bubble_conventions.Inputs(num_microbatches=32))
    assert text(views, "published_bubble") == "96.9 %"
    assert text(views, "share") == "8.6 %"


def test_the_published_step_never_exceeds_two_passes():
    assert max(pipeline.printed_step(m) for m in range(1, 2000)) < 2


def test_a_pass_is_called_by_its_direction():
    spans = {span.key: span for span in lab()["timeline"].spans}
    assert [(spans[key].label, spans[key].name) for key in ("F0.0@0", "B0.0@0")] == [
        ("0", "F0"),
        ("0", "B0"),
    ]


def test_a_pass_of_a_schedule_with_chunks_is_called_by_its_chunk_too():
    spans = {span.key: span for span in lab(schedule="interleaved")["timeline"].spans}
    assert spans["F0.1@0"].name == "F0 of chunk 1"


@pytest.mark.parametrize(
    ("change", "met"),
    [
        ({}, True),
        ({"num_microbatches": 31}, True),
        ({"num_microbatches": 33}, False),
        ({"pipeline_parallel": 7}, False),
        ({"pipeline_parallel": 9}, False),
    ],
)
def test_the_challenge_allows_the_stages_and_micro_batches_that_it_names(change, met):
    challenge = lab()["challenge"]
    found = lab(**{**challenge.start, **change})["challenge"].conditions[0]
    assert render_text(found.text) == "8 stages and at most 32 micro-batches"
    assert found.met == met


def test_the_own_schedule_is_the_first_half_of_the_work_and_the_others_the_second():
    steps = [(one.share, render_text(one.text).partition(" ")[0]) for one in search(DEFAULTS)]
    assert steps == sorted(steps, key=lambda step: step[0])
    assert max(share for share, name in steps if name == "Step") == 0.5
    assert 0.9 < steps[-1][0] < 1
    assert steps[-1][1] == "Schedule"
