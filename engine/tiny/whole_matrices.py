"""Muon on several ranks: the four attention matrices of a layer, orthogonalized in several ways.

The momentum is the gradient of the first step of the tiny model. A matrix has four rows, and a rank
of sharded states holds as many of them as every other rank.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum, hypot, sqrt
from typing import Literal

from engine.catalog.models import TINY_260
from engine.core.units import Count, Operations, Ratio
from engine.formulas.muon import newton_schulz_operations
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob, example_batch, initial_parameters, num_targets
from engine.tiny.layout import layer_name, unflatten
from engine.tiny.matrix import Matrix, dot, flatten_rows, product, product_transposed, split_rows
from engine.tiny.single import loss_and_gradient

Scheme = Literal["gather", "exchange", "owner", "repeat", "slices"]
SCHEMES: tuple[Scheme, ...] = ("gather", "exchange", "owner", "repeat", "slices")
NAMES = ("query", "key", "value", "out")
SIDE: Count = TINY_260.hidden_size
_KIND = "optimizer"

Grid = tuple[tuple[float | None, ...], ...]
_NOTHING: Grid = ((None,) * SIDE,) * SIDE


@dataclass(frozen=True, slots=True, kw_only=True)
class MuonPhase:
    """State of all ranks after one phase.

    Attributes:
        phase: "start", "gather", "1" to "5" (steps of Newton-Schulz), "back".
        held: rank -> matrix -> its numbers, None where the rank has none.
        sent: numbers that each rank has sent so far.
        operations: of each rank so far.
    """

    phase: str
    held: tuple[tuple[Grid, ...], ...]
    sent: tuple[Count, ...]
    operations: tuple[Operations, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrthogonalizedStep:
    """A step of Muon's on several ranks beside that of one.

    Attributes:
        moments: phase by phase.
        values: matrix -> singular values of what all ranks together make of it.
        alone: the same on one rank.
        off: the largest difference of a number from one rank.
    """

    moments: tuple[MuonPhase, ...]
    values: tuple[tuple[Ratio, ...], ...]
    alone: tuple[tuple[Ratio, ...], ...]
    off: float


@lru_cache(maxsize=1)
def momentum() -> tuple[Matrix, ...]:
    """Return the four matrices: the gradients of the first layer's attention, one step old."""
    job = TinyJob(batch=example_batch(8, 2))
    vector = initial_parameters(job.model)
    _, gradient = loss_and_gradient(job.model, vector, job.batch, num_targets(job))
    layer = unflatten(job.model, gradient)[layer_name(0)]
    return tuple(layer[name] for name in NAMES)


class _Ranks:
    """Matrices held by every rank during orthogonalization."""

    def __init__(self, ranks: Count) -> None:
        self.exchange = Exchange(ranks)
        self.held: list[list[Grid]] = [[_NOTHING] * len(NAMES) for _ in range(ranks)]
        self.operations = [0.0] * ranks
        self.moments: list[MuonPhase] = []

    def keep(self, phase: str) -> None:
        sent = self.exchange.sent.get(_KIND, [0] * self.exchange.ranks)
        self.moments.append(
            MuonPhase(
                phase=phase,
                held=tuple(map(tuple, self.held)),
                sent=tuple(sent),
                operations=tuple(self.operations),
            )
        )

    def orthogonalize(self, owned: Callable[[Count], Sequence[Count]]) -> None:
        """Orthogonalize on each rank the matrices that it holds."""
        iterates = [
            {matrix: newton_schulz(_held_rows(grids[matrix])) for matrix in owned(rank)}
            for rank, grids in enumerate(self.held)
        ]
        for step in range(1, STEPS + 1):
            for rank, rank_iterates in enumerate(iterates):
                for matrix, path in rank_iterates.items():
                    self.held[rank][matrix] = _replace_rows(self.held[rank][matrix], path[step])
                    rows = len(path[0])
                    self.operations[rank] += newton_schulz_operations(rows, SIDE, 1)
            self.keep(str(step))


def _held_rows(grid: Grid) -> Matrix:
    """Return the rows that are held."""
    return [[number for number in row if number is not None] for row in grid if row[0] is not None]


def _replace_rows(grid: Grid, matrix: Matrix) -> Grid:
    """Return a grid whose held rows are replaced by those of a matrix."""
    rows = iter(matrix)
    return tuple(tuple(next(rows)) if row[0] is not None else row for row in grid)


def _rows(matrix: Matrix, first: Count, last: Count) -> Grid:
    return tuple(
        tuple(row) if first <= index < last else (None,) * SIDE for index, row in enumerate(matrix)
    )


def matrix_owner(matrix: Count, ranks: Count) -> Count:
    """Return the rank that orthogonalizes a matrix, where one does."""
    return matrix * ranks // len(NAMES)


@lru_cache(maxsize=32)
def orthogonalize_step(ranks: Count, scheme: Scheme) -> OrthogonalizedStep:
    """Return one orthogonalized step; `ranks` is 1, 2 or 4."""
    job = _Ranks(ranks)
    _start(job, scheme, ranks)
    _bring_together(job, scheme, ranks)
    each = scheme in ("gather", "repeat", "slices")
    owned = [
        [number for number in range(len(NAMES)) if each or matrix_owner(number, ranks) == rank]
        for rank in range(ranks)
    ]
    job.orthogonalize(lambda rank: owned[rank])
    _send_back(job, scheme, ranks)
    together = [_assemble(job.held, number) for number in range(len(NAMES))]
    alone = [newton_schulz(matrix)[-1] for matrix in momentum()]
    pairs = zip(map(flatten_rows, together), map(flatten_rows, alone), strict=True)
    return OrthogonalizedStep(
        moments=tuple(job.moments),
        values=tuple(map(singular_values, together)),
        alone=tuple(map(singular_values, alone)),
        off=max(
            abs(a - b)
            for numbers, expected in pairs
            for a, b in zip(numbers, expected, strict=True)
        ),
    )


def _start(job: _Ranks, scheme: Scheme, ranks: Count) -> None:
    each = SIDE // ranks
    for rank in range(ranks):
        for place, matrix in enumerate(momentum()):
            if scheme == "repeat" or (scheme == "owner" and matrix_owner(place, ranks) == rank):
                job.held[rank][place] = _rows(matrix, 0, SIDE)
            elif scheme != "owner":
                job.held[rank][place] = _rows(matrix, rank * each, (rank + 1) * each)
    job.keep("start")


def _bring_together(job: _Ranks, scheme: Scheme, ranks: Count) -> None:
    if scheme == "gather":
        for matrix in range(len(NAMES)):
            parts = [flatten_rows(_held_rows(job.held[rank][matrix])) for rank in range(ranks)]
            for rank, numbers in enumerate(job.exchange.all_gather(parts, _KIND)):
                job.held[rank][matrix] = _rows(split_rows(numbers, SIDE), 0, SIDE)
        job.keep("gather")
    if scheme == "exchange":
        for matrix in range(len(NAMES)):
            owner = matrix_owner(matrix, ranks)
            parts = [
                job.exchange.send(
                    rank, owner, flatten_rows(_held_rows(job.held[rank][matrix])), _KIND
                )
                for rank in range(ranks)
            ]
            for rank in range(ranks):
                job.held[rank][matrix] = _NOTHING
            whole = split_rows([number for part in parts for number in part], SIDE)
            job.held[owner][matrix] = _rows(whole, 0, SIDE)
        job.keep("gather")


def _send_back(job: _Ranks, scheme: Scheme, ranks: Count) -> None:
    each = SIDE // ranks
    if scheme == "gather":  # every rank has the whole update, and keeps its own rows
        for rank in range(ranks):
            for matrix in range(len(NAMES)):
                full_rows = _held_rows(job.held[rank][matrix])
                job.held[rank][matrix] = _rows(full_rows, rank * each, (rank + 1) * each)
        job.keep("back")
    if scheme == "exchange":
        for matrix in range(len(NAMES)):
            owner = matrix_owner(matrix, ranks)
            whole = _held_rows(job.held[owner][matrix])
            for rank in range(ranks):
                rows = whole[rank * each : (rank + 1) * each]
                job.exchange.send(owner, rank, flatten_rows(rows), _KIND)
                job.held[rank][matrix] = _rows(whole, rank * each, (rank + 1) * each)
        job.keep("back")


def _assemble(grids: Sequence[Sequence[Grid]], matrix: Count) -> Matrix:
    """Return a matrix assembled from the rows held by the ranks."""
    rows: Matrix = []
    for row in range(SIDE):
        rows.append(
            next(
                [number for number in rank_grids[matrix][row] if number is not None]
                for rank_grids in grids
                if rank_grids[matrix][row][0] is not None
            )
        )
    return rows


# Newton-Schulz: a matrix whose singular values become about one, in plain floats, step by step.

Coefficients = tuple[Ratio, Ratio, Ratio]

# x -> a x + b x^3 + c x^5 of every singular value: Jordan et al. 2024, as in `torch.optim.Muon`.
MUON: Coefficients = (3.4445, -4.7750, 2.0315)
# The odd cubic that stays at one (Björck and Bowie 1971): slow from small values, exact at the end.
CUBIC: Coefficients = (1.5, -0.5, 0.0)
STEPS: Count = 5
# Sweeps of Jacobi's rotations: far more than a matrix of a few columns needs.
_SWEEPS = 30


def polynomial(value: Ratio, coefficients: Coefficients) -> Ratio:
    """Return a singular value after one step of Newton-Schulz.

    Source: Jordan et al. 2024.
    """
    linear, cubic, fifth = coefficients
    square = value * value
    return value * (linear + square * (cubic + square * fifth))


def polynomial_iterates(
    value: Ratio, steps: Count, coefficients: Coefficients = MUON
) -> tuple[Ratio, ...]:
    """Return a singular value before the first step and after each step."""
    values = [value]
    for _ in range(steps):
        values.append(polynomial(values[-1], coefficients))
    return tuple(values)


def normalized(matrix: Matrix) -> Matrix:
    """Return the matrix over its Frobenius norm: no singular value is above one then."""
    norm = sqrt(fsum(dot(row, row) for row in matrix))
    return [[number / norm for number in row] for row in matrix] if norm else matrix


def newton_schulz(
    matrix: Matrix, steps: Count = STEPS, coefficients: Coefficients = MUON
) -> list[Matrix]:
    """Return the normalized matrix and the iterate after each step.

    X -> a X + (b A + c A A) X with A = X X^T, which changes every singular value as `polynomial`
    and no singular vector. As in `torch.optim.Muon`, a matrix with more rows than columns is
    turned first, so that A is the smaller square.

    Source: Jordan et al. 2024.
    """
    turned = len(matrix) > len(matrix[0])
    now = normalized(_transpose(matrix) if turned else [list(row) for row in matrix])
    iterates = [now]
    for _ in range(steps):
        now = _step(now, coefficients)
        iterates.append(now)
    return [_transpose(iterate) for iterate in iterates] if turned else iterates


def _step(matrix: Matrix, coefficients: Coefficients) -> Matrix:
    linear, cubic, fifth = coefficients
    gram = product_transposed(matrix, matrix)
    square = product(gram, gram)
    factor = [
        [
            cubic * gram_value + fifth * square_value
            for gram_value, square_value in zip(row, other, strict=True)
        ]
        for row, other in zip(gram, square, strict=True)
    ]
    change = product(factor, matrix)
    return [
        [linear * old + new for old, new in zip(row, other, strict=True)]
        for row, other in zip(matrix, change, strict=True)
    ]


def _transpose(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix, strict=True)]


def singular_values(matrix: Matrix) -> tuple[Ratio, ...]:
    """Return the singular values, the largest first.

    Rotations make the rows orthogonal, two at a time; their lengths are the singular values.

    Source: Hestenes 1958 (one-sided Jacobi).
    """
    rows = [list(row) for row in (matrix if len(matrix) <= len(matrix[0]) else _transpose(matrix))]
    for _ in range(_SWEEPS):
        turned = [_rotate(rows, i, j) for i in range(len(rows)) for j in range(i)]
        if not any(turned):
            break
    return tuple(sorted((sqrt(dot(row, row)) for row in rows), reverse=True))


def _rotate(rows: Matrix, i: int, j: int) -> bool:
    """Make two rows orthogonal; return whether they were not."""
    first, second = rows[i], rows[j]
    across = dot(first, second)
    if abs(across) <= 1e-15 * hypot(*first) * hypot(*second):
        return False
    slope = (dot(second, second) - dot(first, first)) / (2 * across)
    tangent = (1 if slope >= 0 else -1) / (abs(slope) + hypot(1.0, slope))
    cosine = 1 / hypot(1.0, tangent)
    rows[i] = _combine(first, second, cosine, -tangent * cosine)
    rows[j] = _combine(first, second, tangent * cosine, cosine)
    return True


def _combine(
    first: Sequence[float], second: Sequence[float], first_weight: float, second_weight: float
) -> list[float]:
    return [
        first_weight * left + second_weight * right
        for left, right in zip(first, second, strict=True)
    ]
