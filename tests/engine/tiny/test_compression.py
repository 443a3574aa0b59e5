"""Compressed gradients: sums that are what they claim, numbers counted, and what feedback saves."""

import math

import pytest

from engine.catalog.models import TINY_260
from engine.formulas.compression import low_rank_numbers, top_k_bytes_sent
from engine.tiny.compressed import (
    RANKS,
    LowRank,
    num_kept,
    orthonormal,
    sum_largest,
    sum_signs,
    sum_whole,
    train,
)
from engine.tiny.exchange import Exchange
from engine.tiny.matrix import dot
from tests.each import each

SIZE = 260
VECTORS = [[math.sin(1.7 * i + rank) for i in range(SIZE)] for rank in range(RANKS)]
SUM = [sum(some) for some in zip(*VECTORS, strict=True)]


def test_everything_sent_is_the_plain_sum():
    assert sum_whole(Exchange(RANKS), VECTORS).total == pytest.approx(SUM)


def test_all_numbers_kept_is_the_plain_sum():
    assert sum_largest(Exchange(RANKS), VECTORS, 1.0).total == pytest.approx(SUM)


def test_top_k_keeps_the_largest_of_every_rank_and_sends_places_with_them():
    exchange = Exchange(RANKS)
    summed = sum_largest(exchange, VECTORS, 0.1)
    kept = num_kept(SIZE, 0.1)
    for vector, own in zip(VECTORS, summed.sent, strict=True):
        chosen = [i for i, number in enumerate(own) if number]
        assert len(chosen) == kept
        rest = [abs(vector[i]) for i in range(SIZE) if i not in chosen]
        assert min(abs(vector[i]) for i in chosen) >= max(rest)
    # Four bytes for a value and four for its place.
    sent = 4 * max(exchange.sent["gradients"])
    assert sent == pytest.approx(top_k_bytes_sent(kept / SIZE, SIZE, 4.0, RANKS))


def test_a_quarter_of_the_numbers_sends_as_much_as_all_on_four_ranks():
    assert train("largest", 0.25).sent == train("whole").sent


def test_signs_keep_the_sign_of_every_number():
    summed = sum_signs(Exchange(RANKS), VECTORS)
    for vector, own in zip(VECTORS, summed.sent, strict=True):
        assert all((a >= 0) == (b >= 0) for a, b in zip(vector, own, strict=True))


def test_full_rank_is_the_plain_sum():
    assert LowRank(4)(Exchange(RANKS), VECTORS).total == pytest.approx(SUM)


def test_columns_become_orthonormal():
    columns = list(zip(*orthonormal([[1.0, 2.0], [3.0, 4.0], [5.0, 6.5]]), strict=True))
    assert dot(columns[0], columns[0]) == pytest.approx(1)
    assert dot(columns[1], columns[1]) == pytest.approx(1)
    assert dot(columns[0], columns[1]) == pytest.approx(0, abs=1e-12)


@each("method, keep", [("largest", 0.03), ("signs", 1.0), ("low_rank", 1.0)])
def test_error_feedback_brings_back_most_of_what_is_lost(method, keep):
    full, lost, kept = train("whole"), train(method, keep, feedback=False), train(method, keep)
    assert lost.last > full.last + 0.4
    assert kept.last < full.last + 0.25 * (lost.last - full.last)


def test_nothing_is_lost_with_feedback():
    """All that a number ever was is sent, or still owed at the end."""
    run = train("largest", 0.05)
    for i in (0, 100, 259):
        fresh = [run.moments[0].wanted[i]] + [
            now.wanted[i] - before.left[i]
            for before, now in zip(run.moments, run.moments[1:], strict=False)
        ]
        sent = sum(moment.sent[i] for moment in run.moments)
        assert sum(fresh) == pytest.approx(sent + run.moments[-1].left[i], abs=1e-12)


def test_a_matrix_is_never_sent_thicker_than_it_is():
    assert low_rank_numbers(TINY_260, 100) == SIZE


def test_a_training_gives_the_same_bits_on_every_python():
    # Python 3.12 rounds `sum` of floats otherwise than 3.11, which 48 steps made the seventh digit.
    assert train("low_rank", 1.0).losses[-1].hex() == "0x1.1bef9c1f49f09p-2"
    assert train("signs", 1.0).losses[-1].hex() == "0x1.d2665a1043195p-3"
