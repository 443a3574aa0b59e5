"""Resumed trainings: the same if all is restored, and otherwise which step shows it."""

import pytest

from engine.core.slices import run_to_end
from engine.tiny.resumed import (
    AFTER,
    BATCH,
    BEFORE,
    MISSING,
    RANKS,
    RATE,
    WARM_UP,
    learning_rate,
    resume,
    sequences,
    shuffled,
    to_bf16,
)
from tests.each import each


def resumed(missing="nothing", ranks=RANKS, batch=BATCH):
    return run_to_end(resume(missing, ranks, batch))


def test_with_everything_restored_it_is_the_same_to_the_last_bit():
    found = resumed()
    assert found.same_bits
    assert found.losses == found.straight[BEFORE:]
    assert (found.off, found.first, found.read_twice) == (0.0, 0, 0)


@each("ranks", [1, 2, 3, 6, 8])
def test_other_numbers_of_gpus_change_no_more_than_the_order_of_sums(ranks):
    found = resumed(ranks=ranks)
    assert found.first == 0
    assert 0 < found.off < 1e-14
    assert not found.same_bits


@pytest.mark.parametrize(
    ("missing", "first"),
    [("place", 1), ("shuffle", 1), ("precision", 1), ("moments", 2), ("schedule", 2)],
)
def test_weights_and_data_show_in_the_first_step_and_the_optimizer_in_the_second(missing, first):
    found = resumed(missing)
    assert found.first == BEFORE + first
    assert found.off > 1e-3


def test_every_loss_is_missing_something_that_has_a_test():
    assert {*MISSING} == {"nothing", "place", "shuffle", "precision", "moments", "schedule"}


def test_a_loader_that_begins_again_reads_what_was_read():
    # 96 of 56 sequences: 40 of the second epoch. The last 16 places are those of the first 16.
    assert resumed("place").read_twice == 16
    assert BEFORE * BATCH % len(sequences()) == 40


def test_a_smaller_batch_is_another_training():
    found = resumed(ranks=2, batch=4)
    assert found.first == BEFORE + 1
    assert len(found.losses) == AFTER


def test_the_schedule_by_hand():
    assert learning_rate(0) == pytest.approx(RATE / WARM_UP)
    assert learning_rate(WARM_UP) == pytest.approx(RATE)
    assert learning_rate(BEFORE + AFTER) == pytest.approx(RATE / 10)


def test_a_shuffle_has_every_sequence_once():
    assert sorted(shuffled(1)) == sorted(shuffled(2)) == sorted(sequences())
    assert shuffled(1) != shuffled(2)


@pytest.mark.parametrize(
    ("number", "rounded"),
    # 1 + 2^-8 lies between 1 and 1 + 2^-7: ties go to the even one.
    [(1.0, 1.0), (1 + 2**-8, 1.0), (1 + 3 * 2**-8, 1 + 2**-6), (-0.3, -0.30078125), (0.0, 0.0)],
)
def test_bf16_by_hand(number, rounded):
    assert to_bf16(number) == rounded
