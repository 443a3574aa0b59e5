"""Results of the parallel map: the nearest possible plan, placed on its machines."""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated, cast

from engine.calculators.splitting_the_model.parallel_map.inputs import Inputs, axes_of
from engine.calculators.splitting_the_model.parallel_map.notes import (
    other_problems,
    refused_order,
    total_gpus,
    uneven,
    within_limits,
)
from engine.catalog.nodes import NODES
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.text import Text
from engine.core.units import Bytes, Count, Seconds, Share
from engine.form.run import inputs as run_inputs
from engine.form.run.nearest_valid import nearest_run
from engine.simulate.memory.allocator import MemoryFit
from engine.simulate.network.traffic_matrix import TrafficMatrix, party_traffic
from engine.simulate.step.mapped_plan import MappedPlan, Order, mapped_plan
from engine.simulate.step.rank_map import Mesh
from engine.simulate.step.what_if import run_fit

ORDER = "Links as the order of the ranks places them; each GPU has its share of the ports."
_MODELLED = (ORDER, "The cost model of the estimates, whose error other pages measure.")
_SOURCES = ("narayanan2021", "korthikanti2022")
# A matrix has at most so many rows; more ranks are drawn as nodes, more nodes as blocks of them.
_ROWS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """Unit of a matrix row: a rank, a node or a block of nodes.

    Attributes:
        kind: "rank", "node" or "block".
        nodes: of a block; 1 otherwise.
        ranks: of a row.
    """

    kind: str
    nodes: Count
    ranks: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The map and its output numbers.

    Attributes:
        plan: the possible plan nearest to the inputs, on its machines.
        rank: the reader's GPU.
        notes: what had to change, and what is unusual, in sentences.
        refused: whether Megatron would refuse the order.
        fit: how the fullest GPU holds its part.
        cells: (from, to) -> axis -> bytes of a step, between parties.
    """

    plan: MappedPlan
    fit: MemoryFit
    party: Party
    cells: Lazy[TrafficMatrix]
    rank: Count
    notes: tuple[Text, ...]
    refused: bool
    world_size: Annotated[
        Count,
        Output(
            "GPUs",
            "n",
            basis="definition",
            assumes=("Sequence and expert parallelism reuse ranks and add none.",),
        ),
    ]
    tensor: Annotated[Count, Output(symbol="t", of="tensor_parallel")]
    context: Annotated[Count, Output(symbol="c", of="context_parallel")]
    data: Annotated[Count, Output(symbol="d", of="data_parallel")]
    pipeline: Annotated[Count, Output(symbol="p", of="pipeline_parallel")]
    num_nodes: Count
    step: Annotated[
        Seconds,
        Output("Step", "T", note="{waiting} of it waits for communication", assumes=(ORDER,)),
    ]
    worst_swap: Annotated[
        Seconds, Output("Step after the worst swap of two axes", assumes=(ORDER,))
    ]
    waits: Annotated[
        Seconds,
        Output(
            "Exposed communication",
            note="of all axes, per step",
            color="communication",
            assumes=_MODELLED,
            sources=_SOURCES,
        ),
    ]
    waiting: Share
    tensor_waits: Annotated[
        Seconds,
        Output(
            "Exposed tensor parallelism",
            note="over {tensor_sent} per GPU",
            color="tensor",
            assumes=_MODELLED,
            sources=_SOURCES,
        ),
    ]
    tensor_sent: Bytes
    tensor_leaves: Annotated[
        Share,
        Output(
            "Tensor-parallel bytes that leave a node",
            color="tensor",
            basis="simulated",
            assumes=("Counted link by link, rings in the order of the ranks.",),
        ),
    ]
    leaves: Annotated[
        Bytes,
        Output(
            "Leaves its node, per GPU",
            note="per step, all axes",
            basis="simulated",
            assumes=(
                "The sum over the axes of what a GPU sends, times the share of links that lead "
                "to another node.",
            ),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    # Nothing but the chosen rank depends on the rank.
    first_rank = _first_rank(replace(inputs, rank=0))
    return replace(first_rank, rank=min(inputs.rank, first_rank.world_size - 1))


@lru_cache(maxsize=8)
def _first_rank(inputs: Inputs) -> Result:
    limited, cut = within_limits(inputs)
    run, changes = nearest_run(_run_inputs_of(limited))
    plan = mapped_plan(run, cast("Order", axes_of(limited.order)))
    against = refused_order(limited, run)
    mesh, step, tensor = plan.mesh, plan.step, plan.traffic.get("tensor")
    party = _axis_group(mesh)
    return Result(
        plan=plan,
        fit=run_fit(run),
        party=party,
        cells=Lazy(partial(party_traffic, mesh, plan.traffic, party.ranks)),
        rank=0,
        notes=(*cut, *changes, *uneven(run), *other_problems(run), *against),
        refused=bool(against),
        world_size=mesh.world_size,
        tensor=mesh.sizes["tensor"],
        context=mesh.sizes["context"],
        data=mesh.sizes["data"],
        pipeline=mesh.sizes["pipeline"],
        num_nodes=mesh.num_nodes,
        step=step.total,
        worst_swap=max((swap.step.total for swap in plan.swaps), default=step.total),
        waits=plan.total_exposed,
        waiting=plan.total_exposed / step.total,
        tensor_waits=step.tensor_parallel,
        tensor_sent=tensor.sent if tensor else 0.0,
        tensor_leaves=tensor.across if tensor else 0.0,
        leaves=plan.bytes_leaving_node,
    )


def _axis_group(mesh: Mesh) -> Party:
    if mesh.world_size <= _ROWS:
        return Party(kind="rank", nodes=1, ranks=1)
    nodes = -(-mesh.num_nodes // _ROWS)
    kind = "node" if nodes == 1 else "block"
    return Party(kind=kind, nodes=nodes, ranks=mesh.gpus_per_node * nodes)


def _run_inputs_of(inputs: Inputs) -> run_inputs.Inputs:
    node = NODES[inputs.machine]
    return run_inputs.Inputs(
        model=inputs.model,
        sequence_length=inputs.sequence_length,
        gpu=node.gpu,
        world_size=total_gpus(inputs),
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
        own_constants=inputs.own_constants,
    )
