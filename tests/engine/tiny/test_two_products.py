"""Two products cut over ranks, against one rank and against plain products of the matrices."""

import pytest

from engine.formulas.volumes import tensor_passes
from engine.tiny.matrix import product, transposed_product
from engine.tiny.two_products import (
    COMING,
    HIDDEN,
    INNER,
    KEPT,
    TOKENS,
    A,
    B,
    X,
    assemble_matrix,
    count_activations,
    count_wrong,
    two_products,
)

CASES = [(ranks, split) for ranks in (1, 2, 4, 8) for split in (False, True)]
cases = pytest.mark.parametrize(("ranks", "split"), CASES)


def at(moments, phase):
    return next(one for one in moments if one.phase == phase)


def listed(grid):
    return [list(row) for row in grid]


def masked(matrix):
    return [[x * m for x, m in zip(*pair, strict=True)] for pair in zip(matrix, KEPT, strict=True)]


@cases
def test_the_result_is_that_of_whole_matrices(ranks, split):
    found = two_products(ranks, sequence_parallel=split)
    inner = [[max(0, x) for x in row] for row in product(X, A)]
    assert listed(assemble_matrix(at(found, "relu"), "Y")) == inner
    assert listed(assemble_matrix(at(found, "leave"), "Z")) == product(inner, B)
    assert listed(assemble_matrix(at(found, "dropout"), "Z")) == masked(product(inner, B))


@cases
def test_the_gradients_are_those_of_whole_matrices(ranks, split):
    last = two_products(ranks, sequence_parallel=split)[-1]
    before, back = product(X, A), masked(COMING)
    inner = [[max(0, x) for x in row] for row in before]
    of_inner = product(back, [list(row) for row in zip(*B, strict=True)])
    slopes = [
        [s if x > 0 else 0 for s, x in zip(*pair, strict=True)]
        for pair in zip(of_inner, before, strict=True)
    ]
    assert listed(assemble_matrix(last, "B")) == transposed_product(inner, back)
    assert listed(assemble_matrix(last, "A")) == transposed_product(X, slopes)
    assert listed(assemble_matrix(last, "X")) == product(
        slopes, [list(r) for r in zip(*A, strict=True)]
    )


@cases
def test_a_gradient_is_what_a_small_change_of_the_input_changes(ranks, split):
    last = two_products(ranks, sequence_parallel=split)[-1]
    step = 1e-6

    def sum_of(first):
        end = at(two_products(ranks, sequence_parallel=split, first=first), "dropout")
        rows = zip(assemble_matrix(end, "Z"), COMING, strict=True)
        return sum(z * g for row in rows for z, g in zip(*row, strict=True))

    slope = (sum_of(1 + step) - sum_of(1 - step)) / 2 / step
    assert assemble_matrix(last, "X")[0][0] == pytest.approx(slope, rel=1e-6)


@cases
def test_every_rank_sends_what_the_closed_form_says(ranks, split):
    sent = two_products(ranks, sequence_parallel=split)[-1].sent
    passes = tensor_passes(sequence_parallel=split) / 2
    assert sent == (passes * (ranks - 1) / ranks * TOKENS * HIDDEN,) * ranks


def test_the_second_gather_is_what_split_sequences_send_more():
    plain, split = (two_products(4, sequence_parallel=on)[-1].sent[0] for on in (False, True))
    assert split - plain == 3 / 4 * TOKENS * HIDDEN


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_a_rank_holds_its_rows_only_between_the_regions(ranks):
    found = two_products(ranks, sequence_parallel=True)
    held = at(found, "dropout").held[1]
    assert sum(x is not None for row in held["X"] for x in row) == TOKENS * HIDDEN // ranks
    assert sum(x is not None for row in held["Y"] for x in row) == TOKENS * INNER // ranks
    assert count_activations(ranks, sequence_parallel=True) == (
        2 * TOKENS * HIDDEN // ranks,
        64 // ranks,
    )
    assert count_activations(ranks)[0] == 2 * TOKENS * HIDDEN


def test_rows_first_would_be_wrong_where_signs_differ():
    wrong = 0
    for left, right in X:
        for above, below in zip(*A, strict=True):
            wrong += left * above * right * below < 0
    assert count_wrong() == wrong > 0


def test_ranks_must_divide_the_columns():
    with pytest.raises(ValueError, match="3 ranks"):
        two_products(3)
