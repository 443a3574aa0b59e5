"""The played step of ZeRO-1 and the saving against GPUs: recorded, published and worked numbers."""

from dataclasses import replace

import pytest

from engine.calculator import load, make
from engine.calculators.data_parallelism.zero_steps import sharded_scene
from engine.core.parsing import parse_number
from engine.core.text import render_text
from engine.tiny.job import TinyJob, example_batch
from engine.tiny.schemes import zero_2
from engine.tiny.trace import RankNumbers
from engine.tiny.zero_record import zero_record
from tests.each import each
from tests.engine.calculators.asked import text

PHASES = ["start", "backward", "reduce_scatter", "adam", "all_gather"]


def steps(**changes):
    return load("zero_steps").compute(make(load("zero_steps"), changes))


def saving(**changes):
    return load("zero_saving").compute(make(load("zero_saving"), changes))


def after(phase, ranks=4):
    return next(one for one in zero_record(ranks, 1, 1, 0.01).trace if one.phase == phase)


def held(places):
    """The places of which a rank has a number."""
    return {place for place, number in enumerate(places) if number is not None}


# The record.


def test_the_record_of_a_step_has_its_phases_in_order():
    assert [one.phase for one in zero_record(4, 1, 1, 0.01).trace] == PHASES


def test_the_record_is_of_the_last_step():
    assert {one.step for one in zero_record(2, 1, 3, 0.01).trace} == {3}


@each("ranks", [1, 3, 4, 8])
def test_every_optimizer_state_has_one_owner(ranks):
    shares = [held(own.first) for own in after("start", ranks).ranks]
    assert sorted(place for share in shares for place in share) == list(range(260))


def test_a_rank_of_four_owns_65_places_in_a_row():
    assert held(after("start").ranks[1].second) == set(range(65, 130))


def test_all_ranks_hold_all_parameters_at_the_start():
    assert [len(held(own.parameters)) for own in after("start").ranks] == [260] * 4


def test_the_reduced_gradient_is_the_sum_of_the_local_ones():
    local = [own.gradients for own in after("backward").ranks]
    for rank, own in enumerate(after("reduce_scatter").ranks):
        places = range(65 * rank, 65 * (rank + 1))
        sums = [sum(gradients[place] for gradients in local) for place in places]
        assert [own.gradients[place] for place in places] == pytest.approx(sums, rel=1e-12)


def test_adam_changes_only_the_own_share():
    before, now = after("reduce_scatter"), after("adam")
    for rank, (old, new) in enumerate(zip(before.ranks, now.ranks, strict=True)):
        pairs = enumerate(zip(old.parameters, new.parameters, strict=True))
        changed = {place for place, (a, b) in pairs if a != b}
        assert changed == set(range(65 * rank, 65 * (rank + 1)))


def test_all_ranks_are_alike_after_the_all_gather():
    assert len({own.parameters for own in after("all_gather").ranks}) == 1


def test_the_parameters_at_the_end_are_those_of_one_gpu():
    alone = zero_record(4, 1, 1, 0.01).alone.parameters
    assert after("all_gather").ranks[3].parameters == pytest.approx(alone, rel=1e-12)


def test_reduce_scatter_and_all_gather_send_as_much():
    sent = after("all_gather").sent
    assert sent["gradients"] == sent["parameters"] == (195,) * 4


def test_stage_2_keeps_gradients_of_the_own_places_only():
    kept = []
    zero_2.train(TinyJob(batch=example_batch(4, 2), steps=1), 4, kept.append)
    reduced = next(one for one in kept if one.phase == "reduce_scatter")
    assert all(held(own.gradients) == held(own.first) for own in reduced.ranks)


# The scene.


@each("ranks", [1, 5, 8])
@each("stage", ["0", "1"])
def test_all_frames_have_the_same_shapes(ranks, stage):
    frames = steps(ranks=ranks, zero_stage=stage)["scene"].frames
    assert len({tuple(shape.key for shape in frame.shapes) for frame in frames}) == 1


def shape(frame, key):
    return next(one for one in frame.shapes if one.key == key)


def test_a_cell_shows_the_recorded_number():
    frame = steps()["scene"].frames[2]
    number = after("reduce_scatter").ranks[1].gradients[65 + 40] * 1e3
    assert float(shape(frame, "t1.1.1").text.replace("−", "-")) == pytest.approx(number, rel=5e-3)


def test_a_gradient_that_is_not_owned_fades_after_the_reduce_scatter():
    frame = steps()["scene"].frames[2]
    opacity = [float(shape(frame, f"c1.1.{i}").attributes["fill-opacity"]) for i in range(4)]
    assert max(opacity) == opacity[1]
    assert opacity[0] == opacity[2] == opacity[3] < 0.1


def test_padding_is_named():
    frame = steps(ranks=8, place=33)["scene"].frames[0]
    assert shape(frame, "no7").text == "padding"


def test_the_last_frame_says_how_far_one_gpu_is():
    assert "one GPU" in render_text(steps()["scene"].frames[-1].caption)


def test_a_wrong_parameter_would_show_in_the_last_frame():
    found = zero_record(2, 1, 1, 0.01)
    last = found.trace[-1]
    first = last.ranks[0]
    wrong = RankNumbers(
        parameters=(first.parameters[0] + 1, *first.parameters[1:]),
        gradients=first.gradients,
        copy=first.copy,
        first=first.first,
        second=first.second,
    )
    trace = (*found.trace[:-1], replace(last, ranks=(wrong, *last.ranks[1:])))
    scene = sharded_scene(trace, found.alone.parameters, 0, sharded=True)
    assert "by up to 1.0" in render_text(scene.frames[-1].caption)


# The numbers beside the scene.


@each("ranks", range(1, 9))
@each("stage", ["0", "1"])
def test_every_run_equals_one_gpu(ranks, stage):
    assert steps(ranks=ranks, zero_stage=stage)["equal"].text == "Equal to one GPU"


@each("ranks", [2, 3, 8])
def test_fourteen_digits_agree_after_three_large_steps(ranks):
    assert text(steps(ranks=ranks, steps=3, learning_rate=0.1), "digits") == "14"


@each("ranks", [1, 2, 4, 5])
def test_what_is_held_is_what_the_formula_says(ranks):
    views = steps(ranks=ranks)
    assert views["held"].value == pytest.approx(views["held_formula"].value, rel=1e-12)


@each("ranks", range(1, 9))
@each("stage", ["0", "1"])
def test_what_is_sent_is_what_the_formula_says(ranks, stage):
    views = steps(ranks=ranks, zero_stage=stage, steps=2)
    assert views["sent"].value == pytest.approx(views["sent_formula"].value, rel=1e-12)


@each("ranks", range(2, 9))
def test_zero_1_sends_as_many_bytes_as_plain_data_parallelism(ranks):
    sharded, plain = (steps(ranks=ranks, zero_stage=stage)["sent"] for stage in "10")
    assert sharded.value == plain.value


def test_eight_gpus_hold_the_padding_too():
    # 260 x 4 bytes, and 3 x 33 numbers of 4 bytes; the formula has 3 x 32.5.
    views = steps(ranks=8)
    assert (views["held"].value, views["held_formula"].value) == (1436, 1430)


@each(("ranks", "stage", "zeros"), [(8, "1", 4), (8, "0", 0), (4, "1", 0), (1, "0", 0)])
def test_zeros_fill_up_the_last_share_only_where_states_are_shared_unevenly(ranks, stage, zeros):
    # 260 parameters are 8 shares of 33, less 4, and 4 shares of 65.
    note = render_text(steps(ranks=ranks, zero_stage=stage)["held_formula"].note)
    assert (f"without the {zeros} zeros" in note, "same as counted" in note) == (
        zeros > 0,
        not zeros,
    )


def test_the_table_adds_up():
    *gradients, total = [parse_number(row[1], 1.0, {}) for row in steps()["follow"].rows[:5]]
    assert sum(gradients) == pytest.approx(total, rel=1e-8)


# The saving.


@each(
    ("stage", "ranks", "expected"),
    [
        ("1", 2, "37.5 %"),
        ("2", 2, "43.8 %"),
        ("3", 2, "50.0 %"),
        ("1", 8, "65.6 %"),
        ("2", 8, "76.6 %"),
        ("3", 8, "87.5 %"),
        ("1", 64, "73.8 %"),
        ("0", 64, "0.0 %"),
    ],
)
def test_the_known_savings(stage, ranks, expected):
    assert text(saving(zero_stage=stage, ranks=ranks), "saving") == expected


@each(
    ("changes", "expected"),
    [
        ({}, "5.50 B"),
        ({"zero_stage": "2"}, "3.75 B"),
        ({"ranks": 1}, "16.0 B"),
        # Megatron's documentation: 6 + 12/d, 4 + 16/d and 8 + 8/d.
        ({"gradient_bytes": 4.0}, "7.50 B"),
        ({"optimizer_bytes": 16.0}, "6.00 B"),
        ({"parameter_bytes": 4.0, "gradient_bytes": 4.0, "optimizer_bytes": 8.0}, "9.00 B"),
    ],
)
def test_the_known_bytes_per_parameter(changes, expected):
    assert text(saving(**changes), "bytes_per_parameter") == expected


def test_7_billion_parameters_on_64_gpus_leave_29_gigabytes():
    assert text(saving(model="custom", ranks=64), "held") == "29.3 GB"


@each(
    ("stage", "micro", "extra"),
    [("1", 1, 1.0), ("2", 1, 1.0), ("3", 1, 1.5), ("1", 4, 1.0), ("2", 4, 2.5), ("3", 4, 6.0)],
)
def test_what_a_stage_sends_over_plain_data_parallelism(stage, micro, extra):
    assert saving(zero_stage=stage, num_microbatches=micro)["extra"].value == extra


def test_gradients_summed_in_fp32_make_zero_1_send_less():
    assert saving(gradient_bytes=4.0)["extra"].value == 0.75


@each(("ranks", "badge"), [(3, "Sharded states dominate"), (4, "Copies dominate")])
def test_crossing_the_handle_flips_the_badge(ranks, badge):
    assert saving(ranks=ranks)["regime"].text == badge


def test_the_dashed_line_is_where_the_badge_flips():
    assert saving()["curve"].rules[0].at == 3


@each("stage", ["1", "2", "3"])
def test_the_published_share_is_printed_from_two_gpus(stage):
    view = saving(zero_stage=stage, ranks=64)["saving"]
    assert render_text(view.receipt.published.text).split()[-2] in ("37.5", "43.8", "50.0")


def test_the_published_share_of_two_gpus_stands_in_its_column():
    rows = saving()["published"].rows
    assert [(render_text(row[1]), render_text(row[2])) for row in rows] == [
        ("37.5 %", "37.5 %"),
        ("43.8 %", "43.8 %"),
        ("50.0 %", "50.0 %"),
    ]


def test_the_challenge_is_not_won_at_its_start():
    views = saving(**saving()["challenge"].start)
    assert not all(condition.met for condition in views["challenge"].conditions)


def test_stage_2_does_not_win_the_challenge():
    views = saving(**{**saving()["challenge"].start, "ranks": 1024})
    assert not views["challenge"].conditions[-1].met


def test_nothing_kept_is_nothing_saved():
    views = saving(parameter_bytes=0.0, gradient_bytes=0.0, optimizer_bytes=0.0)
    assert views["saving"].value == 0
