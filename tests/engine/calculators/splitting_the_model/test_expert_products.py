"""The small figures of expert parallelism: equality, the matrix of copies, grouped products."""

import pytest

from engine.calculator import load
from engine.core.text import render_text
from tests.each import each
from tests.engine.calculators.asked import solved, views

STEPS, MATRIX, PRODUCTS = load("expert_steps"), load("token_exchange"), load("grouped_products")


@each("ranks", ["1", "2", "4"])
def test_over_several_gpus_the_training_is_that_of_one(ranks):
    shown = views(STEPS, ranks=ranks)
    assert shown["equal"].text == "Equal to one GPU"
    assert all(row[1] == row[2] for row in shown["losses"].rows)


def test_only_experts_leave_a_gpu():
    # Two layers of four experts with three 4 x 2 matrices: 24 numbers each, 192 in all.
    assert [solved(STEPS, ranks=r).held for r in ("1", "2", "4")] == [436, 436 - 96, 436 - 144]


def test_one_gpu_sends_nothing():
    found = solved(STEPS, ranks="1")
    assert (found.tokens, found.gradients) == (0, 0)


def test_more_experts_per_token_move_more_copies():
    assert solved(MATRIX, experts_per_token=4).moved > solved(MATRIX).moved


def test_the_matrix_in_bytes_leaves_the_diagonal_out():
    found, heatmap = solved(MATRIX), views(MATRIX)["bytes"]
    total = sum(sum(row) for row in heatmap.values)
    assert total == found.moved * 7168


def test_a_favorite_fills_one_gpu():
    assert solved(MATRIX, favor=3.0).hottest > solved(MATRIX, favor=0.0).hottest


@each("ranks", ["2", "4", "8"])
def test_the_scene_has_five_steps_of_the_same_shapes(ranks):
    frames = views(MATRIX, ranks=ranks)["scene"].frames
    assert len(frames) == 5
    assert len({tuple(shape.key for shape in frame.shapes) for frame in frames}) == 1


def test_the_way_back_is_the_transposed_matrix():
    frames = views(MATRIX)["scene"].frames
    there, back = (
        {s.key: s.text for s in frames[at].shapes if s.key.startswith("n")} for at in (2, 4)
    )
    assert there["n0.1"] == back["n1.0"]
    assert "Step 5 of 5, combine" in render_text(frames[4].caption)


def test_more_tokens_per_expert_use_the_gpu_better():
    curve = solved(PRODUCTS).grouped_curve
    assert list(curve) == sorted(curve)
    assert solved(PRODUCTS).grouped < solved(PRODUCTS).plain


def test_the_modelled_products_are_within_a_fifth_of_the_measured_ones():
    # The fit's own mean error is 12 % forward; these four rows belong to its table.
    for row in views(PRODUCTS)["measured"].rows:
        measured, modelled = (float(render_text(row[at]).split()[0]) for at in (2, 3))
        assert modelled == pytest.approx(measured, rel=0.2)
