"""Schedules on a bench: DualPipe's published table, and what long runs are drawn out from."""

from dataclasses import replace
from itertools import product

import pytest

from engine.core.slices import run_to_end
from engine.formulas.pipeline import bubble_share
from engine.schedules import interleaved
from engine.simulate.pipeline.schedule_bench import (
    ScheduleCase,
    ScheduleResult,
    bubble_curve,
    compare_schedules,
    feasible_setting,
    frontier,
    schedule_result,
    schedule_titles,
)
from engine.simulate.pipeline.schedule_idle import IDLE, closed_form_idle
from tests.each import each

# The units of DualPipe's own table: F = 1, B = 2 of which W = 1, F&B = 3.
TABLE = ScheduleCase(
    schedule="one_f_one_b",
    pipeline_parallel=8,
    num_microbatches=20,
    num_chunks=2,
    forward=1.0,
    backward_input=1.0,
    backward_weight=1.0,
    message=0.0,
    overlapped=1.0,
    slow_stage=0,
    slowness=0.0,
    num_layers=0,
    embedding=0.0,
    output=0.0,
    off_first=0,
    off_last=0,
    recompute=False,
    synchronized=False,
    activation_size=8.0,
    weight_size=8.0,
    message_size=1.0,
)


@each(("name", "idle"), [("one_f_one_b", 21.0), ("zb_h1", 7.0), ("dualpipe", 6.0)])
def test_the_idle_times_of_dualpipes_table_are_played(name, idle):
    one = schedule_result(replace(TABLE, schedule=name))
    assert one.idle_share * one.step == pytest.approx(idle)


@each("name", IDLE)
def test_the_closed_form_is_the_played_idle_time(name):
    case = replace(TABLE, schedule=name, num_microbatches=24)
    one = schedule_result(case)
    chunks = one.setting.num_chunks
    passes = case.forward, case.backward, case.backward_weight
    closed = closed_form_idle(name, (8, 24, chunks), passes, case.pair)
    assert one.idle_share * one.step == pytest.approx(closed, abs=1e-9)


def test_there_is_no_closed_form_for_one_micro_batch_at_a_time():
    assert closed_form_idle("naive", (8, 24, 1), (1.0, 1.0, 1.0), 3.0) is None


def test_recomputation_lengthens_the_backward_pass_by_a_forward_pass():
    again = replace(TABLE, recompute=True)
    assert (again.backward, again.pair) == (2.0, 4.0)


def test_the_curve_goes_through_the_readers_own_point():
    case = replace(TABLE, pipeline_parallel=4)
    own = schedule_result(case)
    assert (20.0, own.idle_share) in run_to_end(bubble_curve(case, own))


def test_nobody_on_the_frontier_is_beaten():
    found = [
        one
        for one in run_to_end(compare_schedules(TABLE, schedule_result(TABLE))).values()
        if isinstance(one, ScheduleResult)
    ]
    best = frontier(found)
    assert not [
        (a.name, b.name)
        for a in best
        for b in found
        if b.memory < a.memory * (1 - 1e-9) and b.idle_share < a.idle_share - 1e-9
    ]


def test_too_many_operations_are_played_with_fewer_micro_batches():
    setting = feasible_setting(replace(TABLE, pipeline_parallel=64, num_microbatches=10_000))
    assert setting.num_microbatches == 256
    assert not setting.refused


@each(("stages", "microbatches", "chunks"), list(product((2, 4, 8), range(1, 25), (2, 4))))
def test_the_bubble_of_interleaved_stages_is_the_closed_form_with_few_micro_batches_too(
    stages, microbatches, chunks
):
    case = replace(
        TABLE,
        schedule="interleaved",
        pipeline_parallel=stages,
        num_microbatches=microbatches,
        num_chunks=chunks,
    )
    one = schedule_result(case)
    assert one.idle_share == pytest.approx(bubble_share(stages, microbatches, chunks))


def test_interleaved_with_one_micro_batch_idles_for_three_quarters_of_the_step():
    assert bubble_share(4, 1, 2) == 0.75
    # The closed form without its domain would say (p - 1)/(vm + p - 1) = 60 %.
    assert bubble_share(4, 4, 2) == pytest.approx(3 / 11)


def test_eight_stages_take_20_micro_batches_in_two_rounds_of_ten():
    one = schedule_result(replace(TABLE, schedule="interleaved"))
    assert not one.setting.reason
    assert interleaved.group(8, 20) == 10


def test_whole_layers_that_divide_change_nothing():
    even, alike = schedule_result(replace(TABLE, num_layers=32)), schedule_result(TABLE)
    assert even.step == pytest.approx(alike.step)
    assert even.activations == pytest.approx(alike.activations)
    assert even.weights == pytest.approx(alike.weights)


def test_an_output_layer_of_one_layer_is_waited_for_unless_a_layer_moves_away():
    heavy = replace(TABLE, num_layers=32, output=1.0, num_microbatches=64)
    moved = replace(heavy, off_last=1)
    alike = schedule_result(replace(heavy, num_layers=0))
    # The last of eight stages has five layers' time where the others have four.
    assert schedule_result(heavy).step - alike.step == pytest.approx(64 * 3 / 4, rel=0.1)
    assert schedule_result(moved).step < schedule_result(heavy).step - 0.01
    assert schedule_result(moved).weights == pytest.approx(5 / 32 * TABLE.weight_size)


@each("name", [name for name in IDLE if name != "dualpipe"])
def test_layers_that_do_not_divide_are_all_computed(name):
    one = schedule_result(replace(TABLE, schedule=name, num_layers=30, num_microbatches=24))
    assert one.step * (1 - one.idle_share) == pytest.approx(24 * 3)


def test_a_long_run_is_not_drawn_out_from_one_that_the_schedule_refuses():
    # 15 + 34 micro-batches do not divide into three rounds.
    case = replace(TABLE, pipeline_parallel=15, num_microbatches=64, num_chunks=4)
    assert (
        run_to_end(compare_schedules(case, schedule_result(case)))["interleaved"]
        == "too long to play beside; choose it"
    )


def test_how_far_the_others_are_never_falls_back():
    case = replace(TABLE, num_microbatches=20_000)
    told = [one.share for one in compare_schedules(case, schedule_result(TABLE))]
    assert told == sorted(told)
    assert told[0] == 0.0
    assert told[-1] <= 1.0
    assert len(told) > len(schedule_titles())
