"""Optimizer step of Muon on one rank, for several ways to distribute the orthogonalization."""

from dataclasses import dataclass, replace
from typing import Literal

from engine.catalog.models import Model
from engine.core.units import Bytes, Count, Operations, Ratio, Seconds
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.device_model import RankRates, rank_group
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.layer.muon_slices import (
    SlicedWork,
    SliceTransfer,
    TensorMode,
    all_to_all_round_trip,
    gather_matrices,
    sliced_work,
)
from engine.simulate.layer.orthogonal_work import (
    MatrixCounts,
    MatrixPool,
    busiest_rank,
    matrix_parameters,
    matrix_pools,
    slice_shape,
)
from engine.simulate.step.sharding_time import optimizer_time, rank_weights

# States whole on every GPU: each orthogonalizes all matrices, or they are dealt out. States
# sharded: matrices are gathered on all GPUs, or each on one and sent back. Or each matrix with its
# states is whole on one GPU from the start.
Scheme = Literal["repeat", "deal", "gather", "exchange", "owner"]
SCHEMES: tuple[Scheme, ...] = ("repeat", "deal", "gather", "exchange", "owner")
REPLICATED_SCHEMES = ("repeat", "deal")
DISTRIBUTED_SCHEMES = ("deal", "exchange", "owner")


@dataclass(frozen=True, slots=True, kw_only=True)
class MuonStep:
    """Time and traffic of an optimizer step on the busiest rank.

    Attributes:
        products: seconds of Newton-Schulz.
        communication: seconds of bringing matrices together and updates back.
        update: seconds of the pass over the states.
        operations: of Newton-Schulz.
        sent: bytes beyond those of the same states with AdamW.
        over_mean: operations of the busiest rank over those of the mean rank.
    """

    products: Seconds
    communication: Seconds
    update: Seconds
    operations: Operations
    sent: Bytes
    over_mean: Ratio

    @property
    def total(self) -> Seconds:
        """Time of the optimizer step; nothing overlaps."""
        return self.products + self.communication + self.update


def scheme_plan(plan: Plan, scheme: Scheme) -> Plan:
    """Return the plan with the ZeRO stage that the scheme uses."""
    if scheme in REPLICATED_SCHEMES:
        return replace(plan, zero_stage=0)
    return plan if plan.zero_stage else replace(plan, zero_stage=1)


def muon_step(
    model: Model,
    plan: Plan,
    training: Training,
    rank: RankRates,
    scheme: Scheme,
    mode: TensorMode = "duplicated",
    element: Bytes = HALF,
) -> MuonStep:
    """Return the optimizer step of the busiest rank; `element` is bytes of a number on the wire.

    Nothing overlaps: neither with the products, nor with the backward pass or the next forward
    pass. One message per matrix gathers it on all ranks; one all-to-all there and one back serve
    all matrices, and so does one gather of updates.

    Source: Jordan et al. 2024 (deal), Moonlight 2025 (gather), Ahn et al. 2025 and Megatron-LM's
    issue 6676 (exchange), its layer-wise optimizer (owner).
    """
    plan, training = scheme_plan(plan, scheme), replace(training, optimizer="muon")
    parts = [
        _pool_step(pool, plan, rank, scheme, mode, element) for pool in matrix_pools(model, plan)
    ]
    operations = sum(inside.operations for _, inside, _ in parts)
    transfers = [*(data for data, _, _ in parts), *(inside.moved for _, inside, _ in parts)]
    return MuonStep(
        products=sum(inside.products for _, inside, _ in parts),
        communication=sum(transfer.time for transfer in transfers),
        update=optimizer_time(plan, training, rank, rank_weights(model, plan)),
        operations=operations,
        sent=sum(transfer.sent for transfer in transfers),
        over_mean=operations / sum(inside.operations / imbalance for _, inside, imbalance in parts),
    )


def _pool_step(
    pool: MatrixPool, plan: Plan, rank: RankRates, scheme: Scheme, mode: TensorMode, element: Bytes
) -> tuple[SliceTransfer, SlicedWork, Ratio]:
    """Return the step of one matrix pool: replica traffic, tensor slices, busiest over mean."""
    own, imbalance = pool.shapes, 1.0
    if scheme in DISTRIBUTED_SCHEMES:
        owner = busiest_rank(pool.shapes, pool.ranks)
        own, imbalance = owner.shapes, owner.over_mean
    data = _data_parallel_transfer(pool, own, plan.tensor_parallel, rank, scheme, element)
    return data, sliced_work(own, plan.tensor_parallel, mode, rank, element), imbalance


def _data_parallel_transfer(
    pool: MatrixPool,
    own: MatrixCounts,
    tensor: Count,
    rank: RankRates,
    scheme: Scheme,
    element: Bytes,
) -> SliceTransfer:
    """Return the transfers between data-parallel ranks, each with its slice of a matrix."""
    if scheme in ("repeat", "owner") or pool.ranks == 1:
        return SliceTransfer()
    group = rank_group(rank, pool.ranks, pool.stride, pool.axis)
    slices_held: MatrixCounts = tuple(
        (slice_shape(shape, tensor), count) for shape, count in pool.shapes
    )
    if scheme == "gather":
        return gather_matrices(slices_held, group, element)
    if scheme == "exchange":
        parameters = sum(count * slice_shape(shape, tensor).parameters for shape, count in own)
        return all_to_all_round_trip(parameters, group, rank, element)
    size = element * matrix_parameters(slices_held)
    time = scatter_or_gather_time(size, group.ranks, group.nodes, group.bandwidth, group.network)
    return SliceTransfer(sent=(group.ranks - 1) / group.ranks * size, time=time)
