"""Newton-Schulz on matrices that tensor parallelism splits: Megatron-LM's four ways."""

from dataclasses import dataclass
from typing import Literal

from engine.core.units import Bytes, Count, Operations, Seconds
from engine.formulas.compute import matmul_time
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.simulate.layer.device_model import Group, Rank, group_of
from engine.simulate.layer.expert_exchange import Routes, exchanged
from engine.simulate.layer.layer_exchange import all_reduced
from engine.simulate.layer.orthogonal_work import (
    STEPS,
    Shape,
    Shapes,
    busiest,
    operations_of,
    parameters_of,
    products_time,
    sliced,
)

# By the names of --muon-tp-mode: each slice by itself; every rank the whole matrix; slices whose
# Gram matrices are summed in every step; each matrix whole on one of the ranks.
TensorMode = Literal["blockwise", "duplicated", "distributed", "layer_sharded"]
MODES: tuple[TensorMode, ...] = ("blockwise", "duplicated", "distributed", "layer_sharded")
_PLAIN = Routes(copies=1, joined=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Bytes that a rank sends, and their time."""

    sent: Bytes = 0.0
    time: Seconds = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    """What the ranks of tensor parallelism take for some matrices.

    Attributes:
        products: seconds of Newton-Schulz on one rank.
        operations: of one rank.
        moved: between them.
    """

    products: Seconds
    operations: Operations
    moved: Moved


def slices(shapes: Shapes, ranks: Count, mode: TensorMode, rank: Rank, element: Bytes) -> Slices:
    """Return the work of one rank of tensor parallelism, whose group has these matrices.

    Source: Megatron-LM, `TensorParallelMuon` (pull request 6380) and issue 6676.
    """
    if mode == "blockwise" or ranks == 1:
        own: Shapes = tuple((sliced(shape, ranks), count) for shape, count in shapes)
        return _slices(own, rank, Moved())
    group = group_of(rank, ranks, 1, "tensor")
    split: Shapes = tuple(one for one in shapes if one[0].by_rows is not None)
    if mode == "duplicated":
        return _slices(shapes, rank, gathered(split, group, element))
    if mode == "layer_sharded":
        own = busiest(shapes, ranks).shapes
        return _slices(own, rank, there_and_back(parameters_of(own), group, rank, element))
    return _summed(shapes, group, rank, element)


def _slices(shapes: Shapes, rank: Rank, moved: Moved) -> Slices:
    return Slices(
        products=products_time(shapes, rank), operations=operations_of(shapes), moved=moved
    )


def gathered(shapes: Shapes, group: Group, element: Bytes) -> Moved:
    """Return the gathers of some matrices on all ranks of a group, one for each matrix."""
    ends = (group.ranks, group.nodes, group.bandwidth, group.network)
    time = sum(
        count * scatter_or_gather_time(element * shape.parameters, *ends) for shape, count in shapes
    )
    share = (group.ranks - 1) / group.ranks
    return Moved(sent=share * element * parameters_of(shapes), time=time)


def there_and_back(most: float, group: Group, rank: Rank, element: Bytes) -> Moved:
    """Return an all-to-all of slices to whole matrices, `most` numbers on the busiest, and back."""
    if group.ranks == 1:
        return Moved()
    one = exchanged(1.0, element * most, _PLAIN, rank, group)
    return Moved(sent=2 * one.inside, time=2 * one.time)


def _summed(shapes: Shapes, group: Group, rank: Rank, element: Bytes) -> Slices:
    """Return slices whose Gram matrices, squares of the side that is whole, are all-reduced."""
    products = operations = sent = time = 0.0
    for shape, count in shapes:
        whole, split = _sides(shape)
        part = split / group.ranks
        rates = (rank.matmul, rank.sms, rank.fill)
        one = matmul_time(whole, whole, part, 1, *rates) + matmul_time(
            whole, part, whole, 1, *rates
        )
        products += count * STEPS * (one + matmul_time(whole, whole, whole, 1, *rates))
        operations += count * STEPS * 2 * (2 * whole**2 * part + whole**3)
        size = element * whole**2
        sent += count * STEPS * 2 * (group.ranks - 1) / group.ranks * size
        time += count * STEPS * all_reduced(size, group, rank)
    return Slices(products=products, operations=operations, moved=Moved(sent=sent, time=time))


def _sides(shape: Shape) -> tuple[Count, Count]:
    """Return the side that every rank has whole, and the one that is split."""
    return (shape.columns, shape.rows) if shape.by_rows else (shape.rows, shape.columns)
