"""A training that goes on, on another number of ranks, is the training that never stopped."""

import pytest

from engine.tiny.resharded import files_read, train_resharded

COUNTS = [(a, b) for a in (1, 2, 3, 4, 6, 8) for b in (1, 4, 5, 6, 8)]


@pytest.mark.parametrize(("before", "after"), COUNTS)
def test_it_is_the_same_training_on_any_two_numbers_of_ranks(before, after):
    assert train_resharded(before, after).off < 1e-12


@pytest.mark.parametrize(("before", "after"), COUNTS)
def test_every_parameter_is_read_once(before, after):
    found = train_resharded(before, after)
    assert [sum(row) for row in found.read] == list(found.sizes)
    new = -(-260 // after)
    columns = [sum(column) for column in zip(*found.read, strict=True)]
    assert columns == [max(0, min(260, (r + 1) * new) - r * new) for r in range(after)]


@pytest.mark.parametrize(("before", "after"), COUNTS)
def test_ranks_open_only_the_files_that_the_formula_names(before, after):
    read = train_resharded(before, after).read
    for rank in range(after):
        opened = {file for file in range(before) if read[file][rank]}
        assert opened == set(files_read(260, before, after, rank))


def test_four_files_for_six_ranks_by_hand():
    # Shares of 65 become shares of 44.
    assert train_resharded(4, 6).read == (
        (44, 21, 0, 0, 0, 0),
        (0, 23, 42, 0, 0, 0),
        (0, 0, 2, 44, 19, 0),
        (0, 0, 0, 0, 25, 40),
    )


def test_weights_alone_are_another_training():
    assert train_resharded(4, 6).forgotten > 0.01


@pytest.mark.parametrize("before", range(1, 9))
@pytest.mark.parametrize("after", range(1, 9))
def test_a_rank_reads_exactly_the_files_that_hold_a_parameter_of_its_share(before, after):
    old, new = -(-260 // before), -(-260 // after)
    for rank in range(after):
        holds = {i // old for i in range(260) if i // new == rank}
        assert set(files_read(260, before, after, rank)) == holds


def test_a_rank_behind_the_last_parameter_reads_nothing():
    assert list(files_read(5, 2, 4, 3)) == []
