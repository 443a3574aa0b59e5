"""Muon on several ranks: the four attention matrices of a layer, orthogonalized in several ways.

The momentum is the gradient of the first step of the tiny model. A matrix has four rows, and a rank
of sharded states holds as many of them as every other rank.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from engine.catalog.models import TINY_260
from engine.core.units import Count, Operations, Ratio
from engine.formulas.muon import newton_schulz_operations
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob, example_batch, initial_parameters, num_targets
from engine.tiny.layout import layer_name, unflatten
from engine.tiny.matrix import Matrix, flatten_rows, split_rows
from engine.tiny.orthogonal import STEPS, newton_schulz, singular_values
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
            {place: newton_schulz(_held_rows(grids[place])) for place in owned(rank)}
            for rank, grids in enumerate(self.held)
        ]
        for step in range(1, STEPS + 1):
            for rank, own in enumerate(iterates):
                for place, path in own.items():
                    self.held[rank][place] = _replace_rows(self.held[rank][place], path[step])
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
        tuple(row) if first <= place < last else (None,) * SIDE for place, row in enumerate(matrix)
    )


def matrix_owner(place: Count, ranks: Count) -> Count:
    """Return the rank that orthogonalizes a matrix, where one does."""
    return place * ranks // len(NAMES)


@lru_cache(maxsize=32)
def orthogonalize_step(ranks: Count, scheme: Scheme) -> OrthogonalizedStep:
    """Return one orthogonalized step; `ranks` is 1, 2 or 4."""
    job = _Ranks(ranks)
    _start(job, scheme, ranks)
    _bring_together(job, scheme, ranks)
    each = scheme in ("gather", "repeat", "slices")
    owned = [
        [place for place in range(len(NAMES)) if each or matrix_owner(place, ranks) == rank]
        for rank in range(ranks)
    ]
    job.orthogonalize(lambda rank: owned[rank])
    _send_back(job, scheme, ranks)
    together = [_assemble(job.held, place) for place in range(len(NAMES))]
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
        for place in range(len(NAMES)):
            parts = [flatten_rows(_held_rows(job.held[rank][place])) for rank in range(ranks)]
            for rank, numbers in enumerate(job.exchange.all_gather(parts, _KIND)):
                job.held[rank][place] = _rows(split_rows(numbers, SIDE), 0, SIDE)
        job.keep("gather")
    if scheme == "exchange":
        for place in range(len(NAMES)):
            owner = matrix_owner(place, ranks)
            parts = [
                job.exchange.send(
                    rank, owner, flatten_rows(_held_rows(job.held[rank][place])), _KIND
                )
                for rank in range(ranks)
            ]
            for rank in range(ranks):
                job.held[rank][place] = _NOTHING
            whole = split_rows([number for part in parts for number in part], SIDE)
            job.held[owner][place] = _rows(whole, 0, SIDE)
        job.keep("gather")


def _send_back(job: _Ranks, scheme: Scheme, ranks: Count) -> None:
    each = SIDE // ranks
    if scheme == "gather":  # every rank has the whole update, and keeps its own rows
        for rank in range(ranks):
            for place in range(len(NAMES)):
                own = _held_rows(job.held[rank][place])
                job.held[rank][place] = _rows(own, rank * each, (rank + 1) * each)
        job.keep("back")
    if scheme == "exchange":
        for place in range(len(NAMES)):
            owner = matrix_owner(place, ranks)
            whole = _held_rows(job.held[owner][place])
            for rank in range(ranks):
                rows = whole[rank * each : (rank + 1) * each]
                job.exchange.send(owner, rank, flatten_rows(rows), _KIND)
                job.held[rank][place] = _rows(whole, rank * each, (rank + 1) * each)
        job.keep("back")


def _assemble(grids: Sequence[Sequence[Grid]], place: Count) -> Matrix:
    """Return a matrix assembled from the rows held by the ranks."""
    rows: Matrix = []
    for row in range(SIDE):
        rows.append(
            next(
                [number for number in own[place][row] if number is not None]
                for own in grids
                if own[place][row][0] is not None
            )
        )
    return rows
