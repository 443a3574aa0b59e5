"""The matrix of an exchange: every copy once, back as it came, hot ranks hot."""

import pytest

from engine.simulate.layer.router import Router
from engine.simulate.layer.token_matrix import (
    received_copies,
    received_imbalance,
    sent_copies,
    token_copies,
    transpose,
)
from tests.each import each

FLAT = (0.0,) * 8
ROUTER = Router(experts_per_token=2, capacity_factor=0.0)


@each("ranks", [1, 2, 4, 8])
def test_every_rank_sends_all_copies_of_its_tokens(ranks):
    matrix = token_copies(ROUTER, FLAT, ranks, 16)
    assert {sum(row) for row in matrix} == {32}


def test_what_arrives_is_what_was_sent():
    matrix = token_copies(ROUTER, FLAT, 4, 16)
    assert sum(received_copies(matrix)) == 4 * 32


def test_the_way_back_is_the_way_there_turned():
    matrix = token_copies(ROUTER, FLAT, 4, 16)
    assert transpose(transpose(matrix)) == matrix
    assert transpose(matrix)[1][2] == matrix[2][1]


def test_one_rank_sends_nothing_to_others():
    assert sent_copies(token_copies(ROUTER, FLAT, 1, 16)) == (0,)


def test_a_favorite_makes_its_rank_the_hottest():
    matrix = token_copies(ROUTER, (3.0, *FLAT[1:]), 4, 16)
    assert received_copies(matrix)[0] == max(received_copies(matrix))
    assert received_imbalance(matrix) > received_imbalance(token_copies(ROUTER, FLAT, 4, 16))


def test_ranks_that_do_not_divide_the_experts_are_refused():
    with pytest.raises(ValueError, match="3 ranks do not divide 8 experts"):
        token_copies(ROUTER, FLAT, 3, 16)
