"""Two matrix products cut over ranks, forward and backward, in numbers small enough to check.

`Z = dropout(relu(X A) B)`: A is cut by columns, B by rows (Shoeybi et al. 2019). All numbers are
whole, so that parts of a sum can be added in the head, and sums do not depend on their order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.core.units import Count
from engine.tiny.exchange import Exchange
from engine.tiny.matrix import (
    Matrix,
    flatten_rows,
    product,
    product_transposed,
    select_columns,
    split_rows,
    transposed_product,
)

TOKENS: Count = 8
HIDDEN: Count = 2
INNER: Count = 8
# What goes in, the two matrices, what is dropped (0) or doubled (2), and the gradient that comes
# back: chosen for short sums of both signs.
X: Matrix = [[1, 2], [-1, 1], [2, 0], [0, -2], [1, -1], [-2, 1], [2, 1], [-1, -1]]
A: Matrix = [[1, -1, 2, 0, 1, -2, 1, -1], [0, 1, -1, 2, 1, 1, -2, -1]]
B: Matrix = [[1, 0], [-1, 2], [1, 1], [0, -1], [2, 0], [1, -1], [0, 1], [-1, 1]]
KEPT: Matrix = [[2, 0], [2, 2], [0, 2], [2, 2], [0, 2], [2, 0], [2, 2], [0, 2]]
COMING: Matrix = [[1, 1], [0, 1], [1, -1], [1, 0], [-1, 1], [1, 1], [0, -1], [1, 1]]

# A number for every place of a whole matrix; None where the rank holds none.
Grid = tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductPhase:
    """State of all ranks after one phase.

    Attributes:
        phase: "start", "enter", "column", "relu", "row", "leave", "dropout", and backward "loss",
            "undropped", "left", "second", "unrelu", "again", "first", "entered".
        held: of each rank, "X", "A", "Y", "B", "Z" -> its numbers, or their gradients.
        gradients: which of the five hold gradients.
        part: which of the five is a part of a sum only; empty if none.
        sent: numbers that each rank has sent so far.
    """

    phase: str
    held: tuple[Mapping[str, Grid], ...]
    gradients: frozenset[str] = frozenset()
    part: str = ""
    sent: tuple[Count, ...]


@dataclass(slots=True, kw_only=True)
class _TensorRanks:
    """State of all ranks; `slots[rank]` holds the grid of each matrix."""

    ranks: Count
    sequence: bool
    exchange: Exchange
    slots: list[dict[str, Grid]]
    moments: list[ProductPhase] = field(default_factory=list)

    @property
    def rows(self) -> Count:
        """Rows that a rank keeps between the cut regions."""
        return TOKENS // self.ranks if self.sequence else TOKENS

    def own(self, whole: Matrix, rank: int) -> Matrix:
        """Return the rows that a rank keeps between the cut regions."""
        return whole[rank * self.rows : (rank + 1) * self.rows] if self.sequence else whole

    def enter(self, matrices: list[Matrix]) -> list[Matrix]:
        """Return all rows on every rank: f, or the gather in its place."""
        if not self.sequence:
            return matrices
        gathered = self.exchange.all_gather(
            [flatten_rows(part) for part in matrices], "activations"
        )
        return [split_rows(part, HIDDEN) for part in gathered]

    def leave(self, parts: list[Matrix]) -> list[Matrix]:
        """Return the sum of all parts, whole or by rows: g, or the scatter in its place."""
        buffers = [flatten_rows(part) for part in parts]
        reduce = self.exchange.reduce_scatter if self.sequence else self.exchange.all_reduce
        return [split_rows(part, HIDDEN) for part in reduce(buffers, "activations")]

    def show(self, name: str, numbers: list[Matrix], *, cut: str = "") -> None:
        """Lay every rank's numbers into the whole matrix: "rows", "columns" or all of it."""
        height, width = _SHAPES[name]
        for rank, matrix in enumerate(numbers):
            top = rank * len(matrix) if cut == "rows" else 0
            left = rank * len(matrix[0]) if cut == "columns" else 0
            self.slots[rank][name] = tuple(
                tuple(
                    matrix[row - top][column - left]
                    if 0 <= row - top < len(matrix) and 0 <= column - left < len(matrix[0])
                    else None
                    for column in range(width)
                )
                for row in range(height)
            )

    def mark(self, phase: str, part: str = "", gradients: str = "") -> None:
        """Record the state of all ranks."""
        sent = self.exchange.sent.get("activations", [0] * self.ranks)
        moment = ProductPhase(
            phase=phase,
            held=tuple(dict(rank_slots) for rank_slots in self.slots),
            gradients=frozenset(gradients),
            part=part,
            sent=tuple(sent),
        )
        self.moments.append(moment)


_SHAPES = {
    "X": (TOKENS, HIDDEN),
    "A": (HIDDEN, INNER),
    "Y": (TOKENS, INNER),
    "B": (INNER, HIDDEN),
    "Z": (TOKENS, HIDDEN),
}
_NOTHING = {
    name: tuple((None,) * width for _ in range(height)) for name, (height, width) in _SHAPES.items()
}


def two_products(
    ranks: Count, *, sequence_parallel: bool = False, first: float = X[0][0]
) -> tuple[ProductPhase, ...]:
    """Return the phases of one forward and one backward pass.

    Args:
        ranks: 1, 2, 4 or 8; they share the eight inner columns.
        sequence_parallel: between the two products' region and the next each rank keeps its rows
            only.
        first: the number in the first place of X.

    Raises:
        ValueError: the ranks do not divide the inner columns.
    """
    if INNER % ranks:
        raise ValueError(f"{ranks} ranks do not divide {INNER} columns")
    whole = [[first, *X[0][1:]], *X[1:]]
    world = _TensorRanks(
        ranks=ranks,
        sequence=sequence_parallel,
        exchange=Exchange(ranks),
        slots=[dict(_NOTHING) for _ in range(ranks)],
    )
    width = INNER // ranks
    cuts = [slice(rank * width, (rank + 1) * width) for rank in range(ranks)]
    pieces = [(select_columns(A, cut), B[cut]) for cut in cuts]
    inner = _forward(world, whole, pieces)
    _backward(world, whole, pieces, inner)
    return tuple(world.moments)


def _forward(
    world: _TensorRanks, whole: Matrix, pieces: list[tuple[Matrix, Matrix]]
) -> list[Matrix]:
    """Run the forward pass; return every rank's activations between the two products."""
    rows = "rows" if world.sequence else ""
    rank_inputs = [world.own(whole, rank) for rank in range(world.ranks)]
    world.show("A", [piece for piece, _ in pieces], cut="columns")
    world.show("B", [second_piece for _, second_piece in pieces], cut="rows")
    world.show("X", rank_inputs, cut=rows)
    world.mark("start")
    entered = world.enter(rank_inputs)
    world.show("X", entered)
    world.mark("enter")
    products = [product(piece, first) for piece, (first, _) in zip(entered, pieces, strict=True)]
    world.show("Y", products, cut="columns")
    world.mark("column")
    inner = [[[max(0.0, x) for x in row] for row in piece] for piece in products]
    world.show("Y", inner, cut="columns")
    world.mark("relu")
    parts = [product(piece, second) for piece, (_, second) in zip(inner, pieces, strict=True)]
    world.show("Z", parts)
    world.mark("row", part="Z")
    left = world.leave(parts)
    world.show("X", rank_inputs, cut=rows)
    world.show("Z", left, cut=rows)
    world.mark("leave")
    world.show(
        "Z", [_apply_dropout(world, piece, rank) for rank, piece in enumerate(left)], cut=rows
    )
    world.mark("dropout")
    return inner


def _apply_dropout(world: _TensorRanks, rows: Matrix, rank: int) -> Matrix:
    """Return rows, or their gradients, after dropout."""
    mask = world.own(KEPT, rank)
    return [[x * m for x, m in zip(*pair, strict=True)] for pair in zip(rows, mask, strict=True)]


def _backward(
    world: _TensorRanks,
    whole: Matrix,
    pieces: list[tuple[Matrix, Matrix]],
    inner: list[Matrix],
) -> None:
    rows = "rows" if world.sequence else ""
    coming = [world.own(COMING, rank) for rank in range(world.ranks)]
    world.show("Z", coming, cut=rows)
    world.mark("loss", gradients="Z")
    dropped = [_apply_dropout(world, part, rank) for rank, part in enumerate(coming)]
    world.show("Z", dropped, cut=rows)
    world.mark("undropped", gradients="Z")
    back = world.enter(dropped)
    world.show("Z", back)
    world.mark("left", gradients="Z")
    of_inner = [
        product_transposed(part, second) for part, (_, second) in zip(back, pieces, strict=True)
    ]
    of_second = [
        transposed_product(part, other_part) for part, other_part in zip(inner, back, strict=True)
    ]
    world.show("Y", of_inner, cut="columns")
    world.show("B", of_second, cut="rows")
    world.mark("second", gradients="ZYB")
    slopes = [
        [
            [s if x > 0 else 0.0 for s, x in zip(*pair, strict=True)]
            for pair in zip(*both, strict=True)
        ]
        for both in zip(of_inner, inner, strict=True)
    ]
    world.show("Y", slopes, cut="columns")
    world.mark("unrelu", gradients="ZYB")
    entered = world.enter([world.own(whole, rank) for rank in range(world.ranks)])
    world.show("X", entered)
    world.mark("again", gradients="ZYB")
    of_first = [
        transposed_product(part, other_part)
        for part, other_part in zip(entered, slopes, strict=True)
    ]
    parts = [
        product_transposed(part, first) for part, (first, _) in zip(slopes, pieces, strict=True)
    ]
    world.show("A", of_first, cut="columns")
    world.show("X", parts)
    world.mark("first", part="X", gradients="ZYBAX")
    world.show("X", world.leave(parts), cut=rows)
    world.mark("entered", gradients="ZYBAX")


def assemble_matrix(moment: ProductPhase, name: str) -> Grid:
    """Return a matrix put together from all ranks; None where no rank holds a number."""
    grids = [slots[name] for slots in moment.held]
    return tuple(
        tuple(
            next((x for x in numbers if x is not None), None) for numbers in zip(*rows, strict=True)
        )
        for rows in zip(*grids, strict=True)
    )


def count_activations(ranks: Count, *, sequence_parallel: bool = False) -> tuple[Count, Count]:
    """Return the activations a rank keeps: outside, and between the two products.

    Outside stand what goes in and the mask of the dropout.
    """
    outside = 2 * TOKENS * HIDDEN
    return outside // ranks if sequence_parallel else outside, TOKENS * INNER // ranks


def count_wrong(first: float = X[0][0]) -> Count:
    """Return how many of the inner numbers come out wrong if A is cut by rows instead.

    Two ranks then hold parts of X A, and relu(a) + relu(b) is not relu(a + b).
    """
    whole = [[first, *X[0][1:]], *X[1:]]
    count = 0
    for left, right in whole:
        for above, below in zip(*A, strict=True):
            a, b = left * above, right * below
            count += max(0.0, a) + max(0.0, b) != max(0.0, a + b)
    return count
