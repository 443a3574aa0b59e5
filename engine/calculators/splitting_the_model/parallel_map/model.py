"""The map behind the figures: the possible plan nearest to the inputs, its mesh, traffic, step."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import cast

from engine.basis.text import Text
from engine.basis.units import Bytes, Count, Seconds
from engine.calculators.splitting_the_model.parallel_map.notes import (
    at_most,
    others,
    product,
    refused,
    uneven,
)
from engine.catalog.nodes import NODES
from engine.form.map_inputs import SHORT, Inputs, axes_of, order_of
from engine.form.run import inputs as _run_inputs
from engine.form.run.repair import run_of
from engine.run.file import Run
from engine.run.parallelism import Plan, data_parallel
from engine.simulate.map_traffic import SHOWN, Traffic, traffic
from engine.simulate.rank import Axis, Group, group_of, rank_of
from engine.simulate.rank_map import AXES, Mesh, Ranks, group, groups, placed
from engine.simulate.step_time import StepTime, step_time

_FIELD = {axis: f"{axis}_parallel" for axis in SHOWN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """The same plan with two axes of the order swapped.

    Attributes:
        first, second: the axes.
        order: as the input writes it.
        step: its time.
    """

    first: Axis
    second: Axis
    order: str
    step: StepTime


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """Everything that the views show.

    Attributes:
        run: model, cluster, plan and training.
        mesh: the ranks.
        rank: the reader's GPU.
        traffic: by axis, of those with more than one rank.
        wires: the link each axis uses, by axis.
        step: with the ranks in this order.
        swaps: of every two axes that have ranks, in the order of the axes.
        notes: what had to change, and what is unusual, in sentences.
        refused: whether Megatron would refuse the order.
    """

    run: Run
    mesh: Mesh
    rank: Count
    traffic: Mapping[Axis, Traffic]
    wires: Mapping[Axis, Group]
    step: StepTime
    swaps: tuple[Swap, ...]
    notes: tuple[Text, ...]
    refused: bool


def size(mesh: Mesh, axis: Axis) -> Count:
    """Return the ranks of an axis, experts included."""
    return mesh.expert if axis == "expert" else mesh.sizes[axis]


def exposed(step: StepTime, axis: Axis) -> Seconds:
    """Return what the step waits for an axis."""
    return {
        "tensor": step.tensor_parallel,
        "context": step.context_parallel,
        "expert": step.expert_parallel,
        "data": step.data_parallel,
        "pipeline": step.pipeline,
    }[axis]


def leaving(found: Map) -> Bytes:
    """Return the bytes that a mean GPU sends out of its node per step."""
    return sum(one.sent * one.across for one in found.traffic.values())


def model(inputs: Inputs) -> Map:
    """Return the map of the inputs."""
    found = _first_rank(replace(inputs, rank=0))
    return replace(found, rank=min(inputs.rank, found.mesh.world_size - 1))


@lru_cache(maxsize=8)
def _first_rank(inputs: Inputs) -> Map:
    """Return the map of rank 0: nothing else in it depends on the rank."""
    limited, cut = at_most(inputs)
    run, changes = run_of(_run_inputs_of(limited))
    mesh = _mesh(limited, run)
    found = traffic(run.model, run.plan, run.training, mesh)
    where = placed(mesh)
    against = refused(limited, run)
    return Map(
        run=run,
        mesh=mesh,
        rank=0,
        traffic={axis: one for axis, one in found.items() if size(mesh, axis) > 1},
        wires={axis: _wire(run, where, axis) for axis in SHOWN},
        step=_step(run, mesh),
        swaps=_swaps(run, mesh),
        notes=(*cut, *changes, *uneven(run), *others(run), *against),
        refused=bool(against),
    )


def _run_inputs_of(inputs: Inputs) -> _run_inputs.Inputs:
    node = NODES[inputs.machine]
    return _run_inputs.Inputs(
        model=inputs.model,
        sequence_length=inputs.sequence_length,
        gpu=node.gpu,
        world_size=product(inputs),
        tensor_parallel=inputs.tensor_parallel,
        pipeline_parallel=inputs.pipeline_parallel,
        virtual_pipeline=1,
        context_parallel=inputs.context_parallel,
        expert_parallel=inputs.expert_parallel,
        micro_batch_size=inputs.micro_batch_size,
        global_batch_size=inputs.num_microbatches * inputs.micro_batch_size * inputs.data_parallel,
        gpus_per_node=inputs.gpus_per_node,
        nics_per_node=inputs.gpus_per_node,
        nic_bandwidth=node.nic_bandwidth * node.nics_per_node / node.gpus_per_node,
        schedule="1f1b",
        sequence_parallel=inputs.sequence_parallel,
        overlap_tensor_parallel=inputs.overlap_tensor_parallel,
    )


def _mesh(inputs: Inputs, run: Run) -> Mesh:
    return _laid(run.plan, cast("tuple[Axis, ...]", axes_of(inputs.order)), inputs.gpus_per_node)


# The groups that a mesh has found are kept with it.
@lru_cache(maxsize=32)
def _laid(plan: Plan, order: tuple[Axis, ...], gpus_per_node: Count) -> Mesh:
    return Mesh(
        sizes={
            "tensor": plan.tensor_parallel,
            "context": plan.context_parallel,
            "data": data_parallel(plan),
            "pipeline": plan.pipeline_parallel,
        },
        order=order,
        expert=plan.expert_parallel,
        gpus_per_node=gpus_per_node,
    )


def _step(run: Run, mesh: Mesh) -> StepTime:
    return step_time(run.model, run.cluster, run.plan, run.training, placed=placed(mesh))


def _wire(run: Run, where: Mapping[Axis, Count], axis: Axis) -> Group:
    rank = replace(rank_of(run.cluster, run.training), placed=where)
    plan = run.plan
    ranks = {
        "tensor": plan.tensor_parallel,
        "context": plan.context_parallel,
        "expert": plan.expert_parallel,
        "data": data_parallel(plan) * plan.context_parallel,
        "pipeline": 2,
    }[axis]
    return group_of(rank, ranks, 1, axis)


def _swaps(run: Run, mesh: Mesh) -> tuple[Swap, ...]:
    active = [axis for axis in AXES if mesh.sizes[axis] > 1]
    found = []
    for first, second in combinations(active, 2):
        change = {first: second, second: first}
        order = tuple(change.get(axis, axis) for axis in mesh.order)
        other = _laid(run.plan, order, mesh.gpus_per_node)
        found.append(
            Swap(first=first, second=second, order=order_of(order), step=_step(run, other))
        )
    return tuple(found)


def links_of(found: Map, rank: Count) -> dict[Axis, str]:
    """Return the name of each group that a rank belongs to, by axis, as views link them."""
    return {axis: _link(axis, group(found.mesh, axis, rank)) for axis in found.traffic}


def all_links(found: Map) -> tuple[dict[Axis, str], ...]:
    """Return the links of every rank."""
    names: tuple[dict[Axis, str], ...] = tuple({} for _ in range(found.mesh.world_size))
    for axis in found.traffic:
        for ranks in groups(found.mesh, axis):
            name = _link(axis, ranks)
            for rank in ranks:
                names[rank][axis] = name
    return names


def _link(axis: Axis, ranks: Ranks) -> str:
    return f"group:{SHORT[axis].lower()}:{ranks[0]}"
