"""Newton-Schulz on tensor-parallel matrices, in Megatron-LM's four modes."""

from dataclasses import dataclass
from typing import Literal

from engine.core.units import Bytes, Count, Operations, Seconds
from engine.formulas.compute import matmul_time
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.simulate.layer.collective import nccl_collective_time
from engine.simulate.layer.device_model import RankGroup, RankRates, rank_group
from engine.simulate.layer.expert_exchange import TokenRoutes, exchange_tokens
from engine.simulate.layer.orthogonal_work import (
    STEPS,
    MatrixCounts,
    MatrixShape,
    busiest_rank,
    matrix_operations,
    matrix_parameters,
    newton_schulz_time,
    slice_shape,
)

# By the names of --muon-tp-mode: each slice by itself; every rank the whole matrix; slices whose
# Gram matrices are summed in every step; each matrix whole on one of the ranks.
TensorMode = Literal["blockwise", "duplicated", "distributed", "layer_sharded"]
MODES: tuple[TensorMode, ...] = ("blockwise", "duplicated", "distributed", "layer_sharded")
_PLAIN = TokenRoutes(copies=1, joined=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceTransfer:
    """Bytes that a rank sends, and the time."""

    sent: Bytes = 0.0
    time: Seconds = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SlicedWork:
    """Time, operations and communication of one tensor-parallel rank for some matrices.

    Attributes:
        products: time of Newton-Schulz on one rank.
        operations: operations of one rank.
        moved: communication between the ranks.
    """

    products: Seconds
    operations: Operations
    moved: SliceTransfer


def sliced_work(
    shapes: MatrixCounts, ranks: Count, mode: TensorMode, rank: RankRates, element: Bytes
) -> SlicedWork:
    """Return the work of one tensor-parallel rank for the matrices of its group.

    Source: Megatron-LM, `TensorParallelMuon` (pull request 6380) and issue 6676.
    """
    if mode == "blockwise" or ranks == 1:
        slices: MatrixCounts = tuple((slice_shape(shape, ranks), count) for shape, count in shapes)
        return _sliced_work(slices, rank, SliceTransfer())
    group = rank_group(rank, ranks, 1, "tensor")
    split: MatrixCounts = tuple(entry for entry in shapes if entry[0].by_rows is not None)
    if mode == "duplicated":
        return _sliced_work(shapes, rank, gather_matrices(split, group, element))
    if mode == "layer_sharded":
        slices = busiest_rank(shapes, ranks).shapes
        return _sliced_work(
            slices, rank, all_to_all_round_trip(matrix_parameters(slices), group, rank, element)
        )
    return _distributed_work(shapes, group, rank, element)


def _sliced_work(shapes: MatrixCounts, rank: RankRates, moved: SliceTransfer) -> SlicedWork:
    return SlicedWork(
        products=newton_schulz_time(shapes, rank), operations=matrix_operations(shapes), moved=moved
    )


def gather_matrices(shapes: MatrixCounts, group: RankGroup, element: Bytes) -> SliceTransfer:
    """Return the all-gathers of some matrices over a group, one for each matrix."""
    ends = (group.ranks, group.nodes, group.bandwidth, group.network)
    time = sum(
        count * scatter_or_gather_time(element * shape.parameters, *ends) for shape, count in shapes
    )
    share = (group.ranks - 1) / group.ranks
    return SliceTransfer(sent=share * element * matrix_parameters(shapes), time=time)


def all_to_all_round_trip(
    most: float, group: RankGroup, rank: RankRates, element: Bytes
) -> SliceTransfer:
    """Return the all-to-all to whole matrices and back; `most` elements on the busiest rank."""
    if group.ranks == 1:
        return SliceTransfer()
    exchange = exchange_tokens(1.0, element * most, _PLAIN, rank, group)
    return SliceTransfer(sent=2 * exchange.inside, time=2 * exchange.time)


def _distributed_work(
    shapes: MatrixCounts, group: RankGroup, rank: RankRates, element: Bytes
) -> SlicedWork:
    """Return the work on slices whose Gram matrices are all-reduced in every step."""
    products = operations = sent = time = 0.0
    for shape, count in shapes:
        whole, split = _sides(shape)
        part = split / group.ranks
        rates = (rank.matmul, rank.sms, rank.fill)
        gram_time = matmul_time(whole, whole, part, 1, *rates) + matmul_time(
            whole, part, whole, 1, *rates
        )
        products += count * STEPS * (gram_time + matmul_time(whole, whole, whole, 1, *rates))
        operations += count * STEPS * 2 * (2 * whole**2 * part + whole**3)
        size = element * whole**2
        sent += count * STEPS * 2 * (group.ranks - 1) / group.ranks * size
        time += count * STEPS * nccl_collective_time(rank, group, size)
    return SlicedWork(
        products=products, operations=operations, moved=SliceTransfer(sent=sent, time=time)
    )


def _sides(shape: MatrixShape) -> tuple[Count, Count]:
    """Return the replicated side of a matrix, and the split side."""
    return (shape.columns, shape.rows) if shape.by_rows else (shape.rows, shape.columns)
