"""Muon's step on one rank, by who orthogonalizes the matrices and where their pieces come from."""

from dataclasses import dataclass, replace
from typing import Literal

from engine.catalog.models import Model
from engine.core.units import Bytes, Count, Operations, Ratio, Seconds
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.device_model import Rank, group_of
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.layer.muon_slices import (
    Moved,
    Slices,
    TensorMode,
    gathered,
    slices,
    there_and_back,
)
from engine.simulate.layer.orthogonal_work import (
    Pool,
    Shapes,
    busiest,
    parameters_of,
    pools_of,
    sliced,
)
from engine.simulate.step.sharding_time import optimizer_time, rank_weights

# States whole on every GPU: each orthogonalizes all matrices, or they are dealt out. States
# sharded: matrices are gathered on all GPUs, or each on one and sent back. Or each matrix with its
# states is whole on one GPU from the start.
Scheme = Literal["repeat", "deal", "gather", "exchange", "owner"]
SCHEMES: tuple[Scheme, ...] = ("repeat", "deal", "gather", "exchange", "owner")
WHOLE_STATES = ("repeat", "deal")
SHARED_WORK = ("deal", "exchange", "owner")


@dataclass(frozen=True, slots=True, kw_only=True)
class MuonStep:
    """What an optimizer step of the busiest rank takes and sends.

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
        """One after another: nothing of it hides."""
        return self.products + self.communication + self.update


def plan_of(plan: Plan, scheme: Scheme) -> Plan:
    """Return the plan with the states as the scheme holds them."""
    if scheme in WHOLE_STATES:
        return replace(plan, zero_stage=0)
    return plan if plan.zero_stage else replace(plan, zero_stage=1)


def muon_step(
    model: Model,
    plan: Plan,
    training: Training,
    rank: Rank,
    scheme: Scheme,
    mode: TensorMode = "duplicated",
    element: Bytes = HALF,
) -> MuonStep:
    """Return the optimizer step of the busiest rank; `element` is what a number weighs on the way.

    Nothing overlaps: neither with the products, nor with the backward pass or the next forward
    pass. One message per matrix gathers it on all ranks; one all-to-all there and one back serve
    all matrices, and so does one gather of updates.

    Source: Jordan et al. 2024 (deal), Moonlight 2025 (gather), Ahn et al. 2025 and Megatron-LM's
    issue 6676 (exchange), its layer-wise optimizer (owner).
    """
    plan, training = plan_of(plan, scheme), replace(training, optimizer="muon")
    parts = [_part(pool, plan, rank, scheme, mode, element) for pool in pools_of(model, plan)]
    operations = sum(inside.operations for _, inside, _ in parts)
    moved = [*(data for data, _, _ in parts), *(inside.moved for _, inside, _ in parts)]
    return MuonStep(
        products=sum(inside.products for _, inside, _ in parts),
        communication=sum(one.time for one in moved),
        update=optimizer_time(plan, training, rank, rank_weights(model, plan)),
        operations=operations,
        sent=sum(one.sent for one in moved),
        over_mean=operations / sum(inside.operations / over for _, inside, over in parts),
    )


def _part(
    pool: Pool, plan: Plan, rank: Rank, scheme: Scheme, mode: TensorMode, element: Bytes
) -> tuple[Moved, Slices, Ratio]:
    """Return what one pool of matrices takes: between replicas, with its slices, over the mean."""
    own, over = pool.shapes, 1.0
    if scheme in SHARED_WORK:
        found = busiest(pool.shapes, pool.ranks)
        own, over = found.shapes, found.over_mean
    data = _over_data(pool, own, plan.tensor_parallel, rank, scheme, element)
    return data, slices(own, plan.tensor_parallel, mode, rank, element), over


def _over_data(
    pool: Pool, own: Shapes, tensor: Count, rank: Rank, scheme: Scheme, element: Bytes
) -> Moved:
    """Return what goes between the ranks of data parallelism, each with its slice of a matrix."""
    if scheme in ("repeat", "owner") or pool.ranks == 1:
        return Moved()
    group = group_of(rank, pool.ranks, pool.stride, pool.axis)
    held: Shapes = tuple((sliced(shape, tensor), count) for shape, count in pool.shapes)
    if scheme == "gather":
        return gathered(held, group, element)
    if scheme == "exchange":
        most = sum(count * sliced(shape, tensor).parameters for shape, count in own)
        return there_and_back(most, group, rank, element)
    size = element * parameters_of(held)
    time = scatter_or_gather_time(size, group.ranks, group.nodes, group.bandwidth, group.network)
    return Moved(sent=(group.ranks - 1) / group.ranks * size, time=time)
