"""Newton-Schulz on small matrices: singular values move as the polynomial says, none turns."""

from math import isclose

import pytest

from engine.tiny.matrix import product_transposed
from engine.tiny.whole_matrices import (
    CUBIC,
    MUON,
    newton_schulz,
    normalized,
    polynomial,
    polynomial_iterates,
    singular_values,
)
from tests.each import each

TORCH_FIRST_ROW = [0.2753990357673193, -0.18158714729950712, 0.658543033987119]
MATRIX = [[0.5, -1.0, 2.0], [0.25, 0.75, -0.5]]


def test_the_polynomial_is_jordans():
    # By hand: 3.4445 - 4.7750 + 2.0315 = 0.7010 at one; 0.5 goes to 1.18885.
    assert polynomial(1.0, MUON) == pytest.approx(0.7010, abs=1e-12)
    assert polynomial(0.5, MUON) == pytest.approx(1.722_25 - 0.596_875 + 0.063_484_375)


def test_singular_values_of_a_matrix_with_known_ones():
    # A rotation by 3-4-5 times diag(3, 2): singular values 3 and 2.
    assert singular_values([[1.8, -1.6], [2.4, 1.2]]) == pytest.approx((3.0, 2.0))


def test_singular_values_square_to_the_trace():
    found = singular_values(MATRIX)
    trace = sum(row[i] for i, row in enumerate(product_transposed(MATRIX, MATRIX)))
    assert sum(value**2 for value in found) == pytest.approx(trace)


@each("matrix", [MATRIX, [list(column) for column in zip(*MATRIX, strict=True)]])
@each("coefficients", [MUON, CUBIC])
def test_every_step_moves_every_singular_value_by_the_polynomial(matrix, coefficients):
    path = newton_schulz(matrix, 5, coefficients)
    start = singular_values(normalized(matrix))
    for step, now in enumerate(path):
        expected = sorted(
            (polynomial_iterates(value, step, coefficients)[-1] for value in start), reverse=True
        )
        assert singular_values(now) == pytest.approx(expected, rel=1e-9)


def test_five_steps_bring_values_near_one_and_not_to_one():
    # Jordan et al. 2024: singular values of the result lie in about 0.7 to 1.2.
    ends = [polynomial_iterates(10 ** (-2.5 + 0.01 * place), 5)[-1] for place in range(251)]
    assert min(ends) > 0.65
    assert max(ends) < 1.21
    assert not isclose(ends[-1], 1.0, rel_tol=0.01)


def test_the_result_of_torch():
    # torch 2.13, _zeropower_via_newtonschulz's lines in float64 on MATRIX: first row.
    found = newton_schulz(MATRIX, 5)[-1]
    assert found[0] == pytest.approx(TORCH_FIRST_ROW, rel=1e-9)
