"""The pages of gradient buckets: tiny gradients, the exposed tail, the bucket lab."""

import json
from itertools import pairwise

import pytest

from engine.core.text import render_text
from engine.draw.reply_extras import trace_text
from engine.formulas.bucket_tail import exposed_tail, most_pieces
from engine.tiny.bucket_record import bucket_record
from tests.engine.calculators.asked import solved, views

# The tiny model.


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("capacity", [1, 64, 260])
@pytest.mark.parametrize("ready", [True, False])
def test_sums_in_buckets_are_the_gradients_of_one_gpu(ranks, capacity, ready):
    assert bucket_record(ranks, capacity, ready=ready).off < 1e-12


def test_the_output_is_complete_first_and_the_embedding_last():
    turns = bucket_record(2, 64, ready=True).turns
    assert [turn.part for turn in turns if turn.part] == [
        "output",
        "layer 1",
        "layer 0",
        "embedding",
    ]


def test_no_bucket_moves_before_its_gradients_are_there():
    for ready in (True, False):
        found = bucket_record(2, 30, ready=ready)
        for turn in found.turns:
            if turn.bucket >= 0:
                assert set(found.buckets[turn.bucket].places) <= turn.ready


def test_one_bucket_hides_nothing():
    found = bucket_record(2, 260, ready=True)
    assert (found.exposed, len(found.buckets)) == (1, 1)


def test_the_order_of_the_model_hides_nothing():
    found = bucket_record(2, 64, ready=False)
    assert found.exposed == len(found.buckets)


def test_all_frames_have_the_same_shapes():
    frames = views("bucket_steps", capacity=30, ranks=4)["scene"].frames
    assert len({tuple(shape.key for shape in frame.shapes) for frame in frames}) == 1


# The exposed tail. Published: 500 MB, 8 GPUs, 300 GB/s, 170 ms, 5 us per piece.


@pytest.mark.parametrize(("pieces", "tail"), [(1, 2.92e-3), (16, 0.187e-3), (64, 0.051e-3)])
def test_the_tail_of_the_published_example(pieces, tail):
    assert solved("chunk_tail", pieces=pieces).exposed == pytest.approx(tail, rel=0.01)


def test_the_published_optimum_is_none():
    curve = [exposed_tail(2.9167e-3, 0.17, n, 5e-6) for n in range(1, 30_000)]
    assert all(after < before for before, after in pairwise(curve))


def test_beyond_most_pieces_the_tail_grows():
    most = round(most_pieces(2.9167e-3, 0.17, 5e-6))
    assert most == 33_417
    near = [exposed_tail(2.9167e-3, 0.17, most + n, 5e-6) for n in (-10, 0, 10, 1000)]
    assert near[0] < 6e-6 < near[2] < near[3]


def test_the_published_efficiency_is_small_where_almost_all_hides():
    found = solved("chunk_tail", pieces=64)
    assert found.published_overlap == pytest.approx(0.0172, rel=0.01)
    assert found.hidden > 0.98


# The lab.


def test_25_mebibytes_are_6_55_million_fp32_gradients():
    assert solved("bucket_lab", dtype="fp32").bucket_parameters == pytest.approx(6.55e6, rel=1e-3)


def test_an_8b_model_in_bf16_would_fill_613_buckets():
    assert solved("bucket_lab", model="llama-3-8b", dtype="bf16").even_buckets == 613


def test_plain_data_parallelism_of_8b_does_not_fit_an_h100():
    assert views("bucket_lab", model="llama-3-8b")["fits"].text == "The states do not fit"
    assert views("bucket_lab", model="llama-3-8b", gpu="b200")["fits"].text == "The states fit"


@pytest.mark.parametrize(
    ("changes", "name", "why"),
    [
        ({}, "Only the last bucket is exposed", "It holds"),
        ({"tokens": 512}, "Buckets queue at the end", "still works on earlier buckets"),
        ({"order": "registered"}, "Nothing hides", "complete only when the backward pass ends"),
        ({"overlap": False}, "Nothing hides", "All buckets wait"),
    ],
)
def test_the_badge_names_what_is_exposed_and_why(changes, name, why):
    badge = views("bucket_lab", **changes)["regime"]
    assert badge.text == name
    assert why in render_text(badge.sentence)


def test_the_timeline_is_saved_as_a_trace_with_both_streams():
    trace = json.loads(trace_text(views("bucket_lab")["timeline"]))
    events = [one for one in trace["traceEvents"] if one["ph"] == "X"]
    assert {one["tid"] for one in events} == {1, 2}
    assert sum("bucket" in one["name"] for one in events) >= 113


def test_a_bucket_is_linked_with_its_row():
    found = views("bucket_lab")
    linked = {link for span in found["timeline"].spans for link in span.links}
    assert all(set(row) <= linked for row in found["contents"].links)


def test_large_buckets_win_with_contention_and_few_tokens():
    steps = [
        solved("bucket_lab", world_size=512, tokens=1024, slow_down=0.19, bucket=size * 2**20)
        for size in (1, 25, 300)
    ]
    assert steps[0].step_time > steps[1].step_time > 1.1 * steps[2].step_time


@pytest.mark.parametrize("won", [False, True])
def test_the_challenge_is_lost_at_its_start_and_won_by_its_solution(won):
    found = views("bucket_lab")["challenge"]
    now = views("bucket_lab", **(found.solution if won else found.start))["challenge"]
    assert all(condition.met for condition in now.conditions) == won
