"""Results of the parallel map: the nearest possible plan, placed on its machines."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import permutations
from typing import Annotated, cast

from engine.catalog.models import MODELS
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number, Scalar, Switch
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.text import Text, say
from engine.core.units import COUNT, Bytes, Count, Seconds, Share
from engine.form.axis_names import SHORT
from engine.form.fields import GpusPerNode, OverlapTensorParallel, OwnConstants
from engine.form.plain_words import plain_sentences
from engine.form.run import inputs as run_inputs
from engine.form.run.nearest_valid import nearest_run
from engine.run.parallelism import UNASKED
from engine.run.problems import problems
from engine.run.run import Run
from engine.run.stage_cut import uneven_pieces
from engine.simulate.layer.device_model import Axis
from engine.simulate.memory.allocator import MemoryFit
from engine.simulate.network.traffic_matrix import TrafficMatrix, party_traffic
from engine.simulate.step.mapped_plan import MappedPlan, Order, mapped_plan
from engine.simulate.step.rank_map import Mesh, Ranks
from engine.simulate.step.what_if import run_fit

# The inputs of the map of ranks, and its presets.

MOST = 1024
_KEY = {"tp": "tensor", "cp": "context", "dp": "data", "pp": "pipeline"}
# Megatron's order and the Llama 3 paper's come first.
_FIRST = ("tp-cp-dp-pp", "tp-cp-pp-dp")
_ALL = tuple("-".join(order) for order in permutations(_KEY))
ORDERS = _FIRST + tuple(order for order in _ALL if order not in _FIRST)
_MODELS = (
    "gpt-22b",
    "llama-3-8b",
    "llama-3-70b",
    "gpt-3-175b",
    "llama-3-405b",
    "mixtral-8x7b",
    "qwen3-235b-a22b",
    "deepseek-v3",
)
_MACHINES = ("dgx-a100", "dgx-h100", "h800", "dgx-b200", "gb200-nvl72", "mi300x")

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "24 GPUs: TP 4, DP 2, PP 3": {"rank": 0},
    "The same, tensor and pipeline swapped": {"order": "pp-cp-dp-tp"},
    "Megatron's 16 GPUs: TP 2, PP 4": {
        "tensor_parallel": 2,
        "pipeline_parallel": 4,
        "data_parallel": 2,
    },
    "Llama 3 405B on 1,024 GPUs": {
        "model": "llama-3-405b",
        "tensor_parallel": 8,
        "pipeline_parallel": 16,
        "data_parallel": 8,
        "order": "tp-cp-pp-dp",
        "sequence_length": 8192,
        "micro_batch_size": 1,
        "num_microbatches": 16,
    },
    "Llama 3 405B, 128K tokens": {
        "model": "llama-3-405b",
        "tensor_parallel": 8,
        "context_parallel": 8,
        "pipeline_parallel": 16,
        "data_parallel": 1,
        "order": "tp-cp-pp-dp",
        "sequence_length": 131_072,
        "micro_batch_size": 1,
        "num_microbatches": 16,
    },
    "DeepSeek-V3 on 1,024 GPUs": {
        "model": "deepseek-v3",
        "machine": "h800",
        "tensor_parallel": 1,
        "pipeline_parallel": 16,
        "data_parallel": 64,
        "expert_parallel": 64,
        "sequence_length": 4096,
        "micro_batch_size": 1,
        "num_microbatches": 60,
    },
}


def _ranks(label: str, help_text: str = "") -> Number:
    return Number(label=label, low=1, high=MOST, scale="log2", whole=True, help=help_text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "gpt-22b"
    tensor_parallel: Annotated[int, _ranks("Tensor parallel")] = 4
    context_parallel: Annotated[int, _ranks("Context parallel")] = 1
    data_parallel: Annotated[int, _ranks("Data parallel")] = 2
    pipeline_parallel: Annotated[int, _ranks("Pipeline parallel")] = 3
    expert_parallel: Annotated[
        int, _ranks("Expert parallel", "Adds no GPUs: reuses the ranks of a pipeline stage.")
    ] = 1
    order: Annotated[
        str,
        Choice(
            label="Rank order",
            options={order: order.replace("-", " · ").upper() for order in ORDERS},
            help="Innermost first: its ranks have neighboring numbers.",
        ),
    ] = "tp-cp-dp-pp"
    rank: Annotated[
        int,
        Number(
            label="You are GPU", low=0, high=MOST - 1, whole=True, help="Its groups are marked."
        ),
    ] = 5
    gpus_per_node: GpusPerNode = 8
    machine: Annotated[
        str,
        Choice(
            label="GPU and port",
            options={key: NODES[key].name for key in _MACHINES},
            help="Every GPU has its share of the node's ports.",
            advanced=True,
        ),
    ] = "dgx-h100"
    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length", low=512, high=1 << 20, scale="log2", whole=True, advanced=True
        ),
    ] = 2048
    micro_batch_size: Annotated[
        int, Number(label="Micro-batch", low=1, high=64, scale="log2", whole=True, advanced=True)
    ] = 4
    num_microbatches: Annotated[
        int,
        Number(
            label="Micro-batches per step", low=1, high=512, scale="log2", whole=True, advanced=True
        ),
    ] = 16
    sequence_parallel: Annotated[
        bool,
        Switch(
            label="Sequence parallel",
            help="Splits along the tensor-parallel ranks; adds no GPUs.",
            advanced=True,
        ),
    ] = True
    overlap_tensor_parallel: OverlapTensorParallel = UNASKED.overlap_tensor_parallel
    own_constants: OwnConstants = ""


def axes_of(order: str) -> tuple[str, ...]:
    """Return the axes of an order as written in its input, innermost first."""
    return tuple(_KEY[key] for key in order.split("-"))


def order_of(axes: tuple[str, ...]) -> str:
    """Return the axis order in the input's notation."""
    return "-".join(SHORT[axis].lower() for axis in axes)


# Notes on impossible, uneven or refused parts of the plan.


def within_limits(inputs: Inputs) -> tuple[Inputs, tuple[Text, ...]]:
    """Return the inputs with at most 1,024 GPUs: the outer axes of most plans shrink first."""
    limited = inputs
    for name in ("data_parallel", "context_parallel", "pipeline_parallel", "tensor_parallel"):
        excess = total_gpus(limited) / MOST
        if excess > 1:
            # The largest number that keeps the product in bounds.
            fits = max(1, int(getattr(limited, name) / excess))
            limited = replace(limited, **{name: fits})  # type: ignore[arg-type]
    if limited == inputs:
        return inputs, ()
    sentence = say(
        "Together the axes ask for {asked} GPUs; the map shows at most {most}, with TP {t}, "
        "CP {c}, DP {d}, PP {p}.",
        asked=(total_gpus(inputs), COUNT),
        most=(MOST, COUNT),
        t=(limited.tensor_parallel, COUNT),
        c=(limited.context_parallel, COUNT),
        d=(limited.data_parallel, COUNT),
        p=(limited.pipeline_parallel, COUNT),
    )
    return limited, (sentence,)


def total_gpus(inputs: Inputs) -> Count:
    """Return the GPUs that the axes ask for."""
    inside = inputs.tensor_parallel * inputs.context_parallel
    return inside * inputs.data_parallel * inputs.pipeline_parallel


def uneven(run: Run) -> tuple[Text, ...]:
    """Return the split of layers that do not divide into the stages."""
    layers, stages = run.model.num_layers, run.plan.pipeline_parallel
    sizes = uneven_pieces(run.model, run.plan)
    if not sizes:
        return ()
    return (
        say(
            "{n} layers do not divide into {p} stages: they get {low} to {high} layers, embedding "
            "and output layer counted as one each.",
            n=(layers, COUNT),
            p=(stages, COUNT),
            low=(min(sizes), COUNT),
            high=(max(sizes), COUNT),
        ),
    )


def other_problems(run: Run) -> tuple[Text, ...]:
    """Return other problems that the software would refuse, in plain words."""
    return plain_sentences(problems(run.model, run.cluster, run.plan, run.training))


def refused_order(inputs: Inputs, run: Run) -> tuple[Text, ...]:
    """Return whether Megatron's check of the order fails: experts, and the pipeline not last."""
    plan = run.plan
    last = inputs.order.endswith("pp") or plan.pipeline_parallel == 1
    copies = plan.world_size // (plan.pipeline_parallel * plan.expert_parallel)
    if last or plan.expert_parallel == 1 or copies == plan.data_parallel:
        return ()
    return (
        say(
            "Megatron-LM refuses this order: unless PP comes last, attention and experts must have "
            "the same data parallelism; here it is {d} and {e}.",
            d=(plan.data_parallel, COUNT),
            e=(copies, COUNT),
        ),
    )


# The names by which views link the groups that ranks belong to.


def links_of(plan: MappedPlan, rank: Count) -> dict[Axis, str]:
    """Return the name of each group that a rank belongs to, by axis."""
    return {axis: _link(axis, plan.mesh.group(axis, rank)) for axis in plan.traffic}


def all_links(plan: MappedPlan) -> tuple[dict[Axis, str], ...]:
    """Return the links of every rank."""
    names: tuple[dict[Axis, str], ...] = tuple({} for _ in range(plan.mesh.world_size))
    for axis in plan.traffic:
        for ranks in plan.mesh.groups(axis):
            name = _link(axis, ranks)
            for rank in ranks:
                names[rank][axis] = name
    return names


def _link(axis: Axis, ranks: Ranks) -> str:
    return f"group:{SHORT[axis].lower()}:{ranks[0]}"


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
        fit: how the GPU that holds most holds its part.
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
