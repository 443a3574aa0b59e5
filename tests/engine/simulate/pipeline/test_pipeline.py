"""The played step against closed forms and published figures; held activations; messages."""

import itertools
from dataclasses import replace

import pytest

from engine.formulas import pipeline as formulas
from engine.formulas import pipeline_idle, v_shapes
from engine.simulate.pipeline.pipeline import PipelineTimes, simulate
from engine.simulate.pipeline.pipeline_measures import (
    activation_timeline,
    idle_over_ideal,
    idle_share,
    layers_of_ranks,
    peak_activations,
    peak_layers,
)
from tests.each import each

# The conventions of the published tables: all three passes alike, or B = 2 with its half W = 1.
EQUAL = PipelineTimes(forward=1.0, backward_input=1.0, backward_weight=1.0, pair=3.0)
SIZES = [(2, 4), (4, 4), (4, 8), (4, 32), (8, 16), (8, 24), (8, 64), (16, 64)]
# Passes for which the closed forms of the zero-bubble papers hold: W no longer than F.
PASSES = [
    t for t in itertools.product((1.0, 1.5, 2.0), (1.0, 1.5, 2.0), (0.5, 1.0)) if t[2] <= t[0]
]


def step(name, p, m, v=1, times=EQUAL):
    return simulate(name, p, m, v, times)


def idle(run):
    """What every rank idles in a step of its own."""
    return run.period - run.busy[0]


def times(forward, backward_input, backward_weight):
    return PipelineTimes(
        forward=forward,
        backward_input=backward_input,
        backward_weight=backward_weight,
        pair=forward + backward_input + backward_weight,
    )


def test_four_stages_and_eight_micro_batches_idle_27_percent():
    run = step("one_f_one_b", 4, 8)
    assert idle_share(run, run.period) == pytest.approx(3 / 11)
    assert idle_over_ideal(run, run.period) == pytest.approx(3 / 8)


@each(("p", "m"), SIZES)
@each("name", ["gpipe", "one_f_one_b"])
def test_gpipe_and_1f1b_idle_as_their_closed_form_says(name, p, m):
    for passes in PASSES:
        run = step(name, p, m, times=times(*passes))
        assert idle(run) == pytest.approx(pipeline_idle.one_f_one_b_idle(p, *passes))
        assert idle_share(run, run.period) == pytest.approx(formulas.bubble_share(p, m))
        assert idle_over_ideal(run, run.period) == pytest.approx(formulas.bubble_over_ideal(p, m))


@each(("p", "m"), SIZES)
@each("v", [2, 3, 8])
@each("name", ["interleaved", "breadth_first"])
def test_chunks_divide_the_idle_time(name, p, m, v):
    run = step(name, p, m, v)
    assert idle(run) == pytest.approx(pipeline_idle.one_f_one_b_idle(p, 1, 1, 1, v))
    assert idle_share(run, run.period) == pytest.approx(formulas.bubble_share(p, m, v))


def test_one_at_a_time_uses_one_part_in_p():
    run = step("naive", 8, 5)
    assert idle_share(run, run.period) == pytest.approx(7 / 8)


@each(("p", "m"), [s for s in SIZES if s[1] >= 2 * s[0] - 1])
@each("passes", PASSES)
def test_zero_bubble_schedules_idle_as_their_closed_forms_say(p, m, passes):
    first = step("zb_h1", p, m, times=times(*passes))
    second = step("zb_h2", p, m, times=times(*passes))
    assert idle(first) == pytest.approx(pipeline_idle.zb_h1_idle(p, *passes))
    assert idle(second) == pytest.approx(pipeline_idle.zb_h2_idle(p, *passes), abs=1e-9)


@each(("p", "m"), SIZES)
def test_zb_h1_has_a_third_of_the_idle_time_of_1f1b_if_passes_are_alike(p, m):
    assert idle(step("zb_h1", p, m)) == pytest.approx(idle(step("one_f_one_b", p, m)) / 3)


@each(("p", "m"), [s for s in SIZES if s[1] >= 2 * s[0] - 1])
@each(("name", "v"), [("zb_h2", 1), ("zb_v", 2)])
def test_zb_h2_and_zb_v_have_no_bubble_if_passes_are_alike(name, v, p, m):
    run = step(name, p, m, v)
    assert idle_share(run, run.period) == pytest.approx(0, abs=1e-12)


def test_a_common_pause_between_steps_brings_a_bubble_back_to_zb_h2():
    run = step("zb_h2", 8, 32)
    assert run.length - run.busy[0] == 7.0


@each(
    ("name", "v", "expected"), [("one_f_one_b", 1, 21.0), ("zb_h1", 1, 7.0), ("dualpipe", 2, 6.0)]
)
@each("m", [16, 20, 32])
def test_eight_stages_idle_as_the_table_of_dualpipe_says(name, v, expected, m):
    assert idle(step(name, 8, m, v)) == pytest.approx(expected)


@each(("p", "m"), [(2, 4), (4, 8), (6, 20), (8, 16), (8, 24), (16, 32)])
@each("passes", [t for t in PASSES if t[0] == t[1]])
def test_dualpipe_idles_as_its_closed_form_says_if_overlapping_saves_nothing(p, m, passes):
    _, back, weight = passes
    closed = pipeline_idle.dualpipe_idle(p, sum(passes), back + weight, weight)
    folded = pipeline_idle.dualpipe_v_idle(p, sum(passes), back + weight, weight)
    assert idle(step("dualpipe", p, m, 2, times(*passes))) == pytest.approx(closed)
    assert idle(step("dualpipe_v", p, m, 2, times(*passes))) == pytest.approx(folded)


def test_if_overlapping_saves_time_the_ranks_of_dualpipe_idle_differently():
    run = step("dualpipe", 8, 20, 2, replace(EQUAL, pair=2.4))
    assert max(run.busy) - min(run.busy) > 1


def test_dualpipe_v_is_dualpipe_of_twice_the_stages_folded():
    half = PipelineTimes(forward=0.5, backward_input=0.5, backward_weight=0.5, pair=1.5)
    deep, folded = step("dualpipe", 16, 40, 2, half), step("dualpipe_v", 8, 20, 2)
    assert folded.starts == deep.starts[:8]


@each("p", range(2, 12))
@each("m", [1, 2, 3, 8, 24])
def test_1f1b_holds_what_its_closed_form_says(p, m):
    peaks = [formulas.one_f_one_b_peak(rank, p, m) for rank in range(p)]
    assert list(peak_activations(step("one_f_one_b", p, m))) == peaks


def test_four_stages_hold_4_3_2_1_with_1f1b_and_8_each_with_gpipe():
    assert peak_activations(step("one_f_one_b", 4, 8)) == (4, 3, 2, 1)
    assert peak_activations(step("gpipe", 4, 8)) == (8, 8, 8, 8)


@each(("p", "m"), [(4, 8), (8, 16), (8, 32)])
@each("v", [2, 4, 8])
def test_interleaving_holds_what_its_closed_form_says(p, m, v):
    peaks = [formulas.interleaved_peak(rank, p, v) for rank in range(p)]
    assert list(peak_activations(step("interleaved", p, m, v))) == pytest.approx(peaks)


@each(
    ("name", "v", "peak"),
    [
        ("zb_h1", 1, 8),
        ("zb_h2", 1, 15),
        ("zb_v", 2, 8),
        ("dualpipe", 2, 9),
        ("dualpipe_v", 2, 8.5),
        ("breadth_first", 4, 32),
        ("naive", 1, 1),
    ],
)
def test_eight_stages_hold_the_published_number_of_activations(name, v, peak):
    assert set(peak_activations(step(name, 8, 32, v))) == {peak}


RANKS = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16]


@each("p", RANKS)
def test_v_min_and_v_half_hold_what_their_closed_forms_say(p):
    peaks = {name: max(peak_activations(step(name, p, 3 * p, 2))) for name in ("v_min", "v_half")}
    assert peaks == {"v_min": v_shapes.v_min_peak(p), "v_half": v_shapes.v_half_peak(p)}


@each("p", RANKS)
def test_v_min_and_v_half_idle_as_published_whatever_the_micro_batches(p):
    # Idle passes of a rank: at most 2p/3 and p/2 if passes are alike.
    for name, published in (("v_min", 2 * p / 3), ("v_half", p / 2)):
        waits = [idle(step(name, p, m, 2)) / 3 for m in (2 * p, 4 * p)]
        assert waits[0] == pytest.approx(waits[1])
        assert waits[0] <= published + 1e-9 or p == 2


# What the authors' scheduler (zbv_greedy.py of sail-sg/zero-bubble-pipeline-parallelism, run with
# chunks of these passes and no time between stages) leaves idle of its longest rank, halved: it
# counts passes of a chunk. Stages and micro-batches: V-Half and V-Min, for F, B, W = 1, 1, 1, then
# for 2, 3, 2.
AUTHORS = [
    ((2, 4), (0.5, 1.5), (2.5, 7.0)),
    ((2, 7), (0.5, 1.5), (2.5, 10.0)),
    ((3, 6), (2.5, 2.5), (8.0, 16.0)),
    ((4, 1), (6.0, 5.5), (15.0, 14.0)),
    ((4, 3), (4.5, 5.5), (14.0, 18.0)),
    ((4, 8), (2.5, 5.5), (9.5, 28.0)),
    ((4, 16), (2.5, 5.5), (9.5, 44.0)),
    ((5, 10), (5.5, 7.5), (17.0, 36.0)),
    ((6, 12), (5.5, 8.5), (18.5, 43.0)),
    ((7, 9), (8.5, 11.5), (26.0, 45.0)),
    ((8, 2), (13.0, 13.0), (33.0, 34.0)),
    ((8, 16), (8.5, 13.5), (27.5, 63.0)),
    ((8, 20), (8.5, 13.5), (27.5, 71.0)),
]


@each(("sizes", "equal", "unequal"), AUTHORS)
def test_v_half_and_v_min_idle_as_in_the_schedules_of_their_authors(sizes, equal, unequal):
    for passes, published in (((1.0, 1.0, 1.0), equal), ((2.0, 3.0, 2.0), unequal)):
        for name, idle_time in zip(("v_half", "v_min"), published, strict=True):
            run = step(name, *sizes, 2, times=times(*passes))
            spans = [
                ends[-1] - starts[0] for starts, ends in zip(run.starts, run.ends, strict=True)
            ]
            assert max(spans) - sizes[1] * sum(passes) == pytest.approx(idle_time)


@each("p", [7, 8, 16])
def test_less_memory_costs_idle_time(p):
    runs = [step(name, p, 3 * p, 2) for name in ("v_min", "v_half", "zb_v")]
    held = [max(peak_activations(run)) for run in runs]
    assert held == sorted(held)
    waits = [idle(run) for run in runs]
    assert waits == sorted(waits, reverse=True)
    assert waits[0] < idle(step("one_f_one_b", p, 3 * p))


def test_the_curve_of_activations_reaches_the_peak_and_ends_at_nothing():
    for name, v in (("one_f_one_b", 1), ("dualpipe", 2), ("zb_v", 2), ("interleaved", 4)):
        run = step(name, 4, 8, v)
        for rank, peak in enumerate(peak_activations(run)):
            at, held = activation_timeline(run, rank)
            assert list(at) == sorted(at)
            assert (max(held), held[-1]) == (peak, 0)


def test_a_v_sends_twice_as_many_messages_as_1f1b_and_a_loop_v_times_and_more():
    sent = {n: step(n, 8, 32, v).program.num_messages for n, v in COUNTED}
    assert sent["zb_v"] == 2 * sent["one_f_one_b"]
    assert sent["interleaved"] == 2 * 32 * (2 * 8 - 1)


COUNTED = [("zb_v", 2), ("one_f_one_b", 1), ("interleaved", 2)]


@each("v", [1, 2, 4])
def test_bytes_between_stages_are_messages_times_their_size(v):
    run = step("interleaved" if v > 1 else "one_f_one_b", 4, 8, v)
    assert run.program.num_messages * 64.0 == formulas.pipeline_bytes(8, 4, 64.0, v)


def test_a_message_delays_the_first_forward_of_every_later_rank():
    slow = replace(EQUAL, latency=0.25, message=2.0, bandwidth=4.0)
    run = step("one_f_one_b", 4, 8, times=slow)
    assert [starts[0] for starts in run.starts] == [0.0, 1.75, 3.5, 5.25]


def test_messages_on_one_wire_follow_one_another():
    wire = replace(EQUAL, message=4.0, bandwidth=1.0)
    run = step("gpipe", 2, 4, times=wire)
    assert run.starts[1][:4] == [5.0, 9.0, 13.0, 17.0]


def test_recomputation_adds_a_forward_pass_to_every_backward_pass():
    plain, again = step("one_f_one_b", 4, 8), step("one_f_one_b", 4, 8, 1, recomputed(EQUAL))
    assert again.busy[0] == plain.busy[0] + 8
    assert idle_share(again, again.period) == pytest.approx(3 / 11)


def recomputed(passes):
    return replace(passes, recompute=True)


def test_a_slow_stage_sets_the_pace_of_all():
    slow = replace(EQUAL, slowness=(1.0, 1.0, 1.5, 1.0))
    shorter, longer = (step("one_f_one_b", 4, m, times=slow) for m in (64, 65))
    assert longer.period - shorter.period == pytest.approx(4.5)


def test_a_heavy_part_takes_longer_and_the_others_wait_for_it():
    run = step("one_f_one_b", 2, 1, times=replace(EQUAL, pieces=(0.5, 1.5)))
    # Half of a forward pass, then one and a half of everything, then half a backward pass.
    assert run.ends[1][-1] == 0.5 + 1.5 * 3
    assert run.length == 0.5 + 1.5 * 3 + 0.5 * 2


@each("v", [1, 2])
def test_a_heavy_end_sets_the_pace_of_a_long_step(v):
    pieces = (1.0,) * (4 * v - 1) + (2.0,)
    name = "interleaved" if v > 1 else "one_f_one_b"
    uneven = replace(EQUAL, pieces=pieces)
    shorter, longer = (step(name, 4, m, v, uneven) for m in (64, 68))
    assert (longer.period - shorter.period) / 4 == pytest.approx(3 * (v + 1) / v)


@each("name, v", [("dualpipe", 2), ("dualpipe_v", 2), ("zb_v", 2), ("interleaved", 2)])
def test_even_pieces_are_no_pieces(name, v):
    plain = step(name, 4, 8, v)
    parts = 4 * plain.program.num_parts
    even = step(name, 4, 8, v, replace(EQUAL, pieces=(1.0,) * parts))
    assert even.period == pytest.approx(plain.period)
    assert even.busy == pytest.approx(plain.busy)


def test_computing_is_the_sum_of_the_parts_wherever_they_lie():
    pieces = (0.5, 1.5, 1.0, 1.0, 0.25, 1.75, 1.5, 0.5)
    for name, v in (("zb_v", 2), ("dualpipe_v", 2), ("interleaved", 2)):
        run = step(name, 4, 8, v, replace(EQUAL, pieces=pieces))
        assert sum(run.busy) == pytest.approx(8 * 3 * sum(pieces) / 2)


def test_pieces_must_be_as_many_as_parts():
    with pytest.raises(ValueError, match="3 pieces for 4 parts"):
        step("one_f_one_b", 4, 8, times=replace(EQUAL, pieces=(1.0, 1.0, 1.0)))


@each("name, v", [("one_f_one_b", 1), ("zb_v", 2), ("dualpipe", 2), ("interleaved", 2)])
def test_even_layers_hold_what_the_peaks_say(name, v):
    run = step(name, 4, 8, v)
    parts = 4 * run.program.num_parts
    found = peak_layers(run, (6,) * parts)
    assert found == tuple(6 * peak for peak in run.program.peaks)
    assert sum(layers_of_ranks(run, (6,) * parts)) == 6 * sum(map(len, run.program.places))


def test_the_first_of_uneven_stages_holds_its_own_layers_p_times():
    run = step("one_f_one_b", 4, 8)
    assert peak_layers(run, (7, 8, 8, 7)) == (28, 24, 16, 7)


def test_without_idle_time_both_conventions_are_zero():
    run = step("one_f_one_b", 2, 1)
    assert idle_share(run, sum(run.busy) / 2) == pytest.approx(0)
    assert idle_over_ideal(run, sum(run.busy) / 2) == pytest.approx(0)


@each("over", [0.0, 0.375, 1.0, 7.0])
def test_the_conventions_convert(over):
    assert formulas.share_of_step(over) == pytest.approx(1 - 1 / (1 + over))


def test_a_step_is_computing_and_idling():
    passed = pipeline_idle.one_f_one_b_idle(4, 1.0, 1.0, 1.0)
    assert formulas.pipeline_step(8, 1.0, 1.0, 1.0, passed) == step("one_f_one_b", 4, 8).period
