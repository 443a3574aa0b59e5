"""Compression: break-even by hand, factors by hand, and bytes that fall as published."""

import pytest

from engine.catalog.models import MODELS
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.compression import (
    local_bytes_per_token,
    low_rank_bytes_sent,
    low_rank_numbers,
    matrix_shapes,
    top_k_break_even,
    top_k_bytes_sent,
    top_k_sends_more_from,
)
from engine.formulas.parameters import total_parameters
from tests.each import each


def test_a_hundredth_in_bf16_breaks_even_at_67_ranks():
    assert top_k_break_even(0.01, 2.0, 2.0) == pytest.approx(66.67, abs=0.01)


@each("kept, value, first", [(0.01, 2.0, 67), (0.001, 2.0, 667), (0.001, 4.0, 1001)])
def test_the_first_whole_number_of_ranks_above_it_sends_more(kept, value, first):
    """4/6 and 4/0.006 by hand; 8/0.008 is 1,000, where both send alike."""
    assert top_k_sends_more_from(kept, value, value) == first
    more, less = (
        top_k_bytes_sent(kept, 1e9, value, ranks) - ring_bytes_sent(1e9 * value, ranks)
        for ranks in (first, first - 2)
    )
    assert less < 0 < more


def test_at_the_break_even_both_send_alike():
    ranks = 64
    kept = 2 * 2.0 / (ranks * 6.0)
    assert top_k_break_even(kept, 2.0, 2.0) == pytest.approx(ranks)
    assert top_k_bytes_sent(kept, 1e9, 2.0, ranks) == pytest.approx(ring_bytes_sent(2e9, ranks))


def test_one_rank_sends_nothing():
    assert top_k_bytes_sent(0.01, 1e9, 2.0, 1) == 0
    assert low_rank_bytes_sent(MODELS["llama-3-8b"], 4, 2.0, 1) == 0


@each("name", ["llama-3-8b", "llama-3.2-3b", "gpt-3-175b"])
def test_matrices_are_nearly_all_parameters(name):
    model = MODELS[name]
    matrices = sum(rows * columns * count for rows, columns, count in matrix_shapes(model))
    assert 0.999 < matrices / total_parameters(model) <= 1


def test_factors_of_llama_3_8b_by_hand():
    """Of a layer 8(8,192 + 8,192 + 5,120 + 5,120 + 3 x 18,432), of both ends 8 x 132,352."""
    layer = 8 * (2 * 8192 + 2 * 5120 + 3 * 18432) + 2 * 4096
    ends = 2 * 8 * 132352 + 4096
    assert low_rank_numbers(MODELS["llama-3-8b"], 8) == 32 * layer + ends


def test_500_inner_steps_send_500_times_less():
    """Douillard et al. 2023: 500 inner steps, 500 times less communication."""
    every, rare = (local_bytes_per_token(4e8, 4.0, 8, steps, 1e5) for steps in (1, 500))
    assert every / rare == pytest.approx(500)
