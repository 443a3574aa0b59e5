"""Operations and bytes of Muon against what its authors print."""

import pytest

from engine.core.units import MEGA
from engine.formulas.muon import (
    muon_exchanged,
    muon_gathered,
    muon_overhead,
    newton_schulz_operations,
    shampoo_bytes,
)


def test_a_square_matrix_takes_six_cubes_in_a_step():
    # Jordan et al. 2024: at most 6 n m^2 for each step.
    assert newton_schulz_operations(8, 8, 1) == 6 * 8**3
    assert newton_schulz_operations(4, 16, 5) == newton_schulz_operations(16, 4, 5)
    assert newton_schulz_operations(4, 16, 1) == 2 * (2 * 16 * 16 + 64)


def test_the_overheads_that_jordan_prints():
    # The record of NanoGPT: 0.7 % for m = 768 and batches of 524,288; Llama 405B: 0.5 % for 16,384
    # and 16 million.
    assert muon_overhead(5, 768, 524_288) == pytest.approx(0.007, abs=0.0005)
    assert muon_overhead(5, 16_384, 16 * MEGA) == pytest.approx(0.005, abs=0.0005)


def test_one_rank_sends_nothing():
    assert muon_gathered(100, 1, 2.0) == muon_exchanged(100, 1, 2.0) == 0.0


def test_an_exchange_shrinks_with_the_ranks_and_a_gather_does_not():
    # By hand, 64 numbers of one byte on four ranks: 3/4 of 64, and 2 x 3/16 of them.
    assert muon_gathered(64, 4, 1.0) == 48
    assert muon_exchanged(64, 4, 1.0) == 24


def test_shampoo_keeps_two_squares_and_their_roots():
    # A square matrix: four squares of its size, in single precision.
    assert shampoo_bytes(8, 8) == 16.0
