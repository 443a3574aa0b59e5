"""Rank lists: a pasted mesh or launch script, and which ranks form which group."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import InputError, Number, Sample, Text
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import COUNT, Count
from engine.core.views import Badge, Code, Table
from engine.run.mesh_text import MOST_RANKS, MeshText, read_mesh
from engine.simulate.step.rank_lists import AxisLayout, Ranks, rank_lists

SAMPLES = {
    "megatron": Sample(
        title="Megatron-LM: 16 GPUs",
        text="""torchrun --nnodes 2 --nproc-per-node 8 pretrain_gpt.py \\
    --tensor-model-parallel-size 2 \\
    --pipeline-model-parallel-size 4
""",
    ),
    "experts": Sample(
        title="Megatron-LM with experts",
        text="""torchrun --nnodes 8 --nproc-per-node 8 pretrain_gpt.py \\
    --tensor-model-parallel-size 2 \\
    --context-parallel-size 2 \\
    --pipeline-model-parallel-size 2 \\
    --expert-model-parallel-size 8 \\
    --expert-tensor-parallel-size 1
""",
    ),
    "pytorch": Sample(
        title="PyTorch: a mesh of 24",
        text='mesh = init_device_mesh("cuda", (3, 2, 4), mesh_dim_names=("pp", "dp", "tp"))\n',
    ),
}
# Groups over several axes that Megatron makes: their names, and the axes.
_JOINED = (("dp-cp", ("dp", "cp")), ("tp-pp", ("tp", "pp")), ("tp-cp", ("tp", "cp")))
SHOWN, LISTED = 4, 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    text: Annotated[
        str,
        Text(
            label="A mesh, or a launch script",
            samples=SAMPLES,
            rows=6,
            placeholder='Paste init_device_mesh("cuda", ...), or the flags of Megatron-LM.',
            longest=50_000,
            check=read_mesh,
        ),
    ] = SAMPLES["megatron"].text
    world_size: Annotated[
        int,
        Number(
            label="GPUs, where a script names none",
            low=0,
            high=MOST_RANKS,
            step=8,
            whole=True,
            help="0: as few as the sizes need.",
        ),
    ] = 0
    rank: Annotated[
        int, Number(label="You are GPU", low=0, high=MOST_RANKS - 1, whole=True, symbol="r")
    ] = 5
    gpus_per_node: Annotated[int, Number(label="GPUs per node", low=1, high=72, whole=True)] = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The mesh that was read, and its groups."""

    read: MeshText | None
    problem: str
    groups: tuple[tuple[str, Count, tuple[Ranks, ...]], ...]
    world: Annotated[
        Count,
        Output(
            "GPUs",
            note="the product of {axes} axes",
            color="ink",
            basis="definition",
            sources=("megatron_ranks",),
        ),
    ]
    axes: Count
    rank: Count


def solve(inputs: Inputs) -> Result:
    """Read the mesh and list its groups."""
    try:
        read = read_mesh(inputs.text, inputs.world_size)
    except InputError as error:
        return Result(read=None, problem=str(error), groups=(), world=0, axes=0, rank=0)
    return Result(
        read=read,
        problem="",
        groups=tuple(_groups(read)),
        world=read.world_size,
        axes=len(read.sizes),
        rank=min(inputs.rank, read.world_size - 1),
    )


def _groups(read: MeshText) -> Sequence[tuple[str, Count, tuple[Ranks, ...]]]:
    """Return (name, distance of neighbors or 0, groups) of every axis and joined axes."""
    layout = AxisLayout(sizes=read.sizes)
    groups = [(name, layout.stride(name), rank_lists(layout, (name,))) for name in read.sizes]
    for name, axes in _JOINED:
        if all(read.sizes.get(axis, 1) > 1 for axis in axes):
            groups.append((name, 0, rank_lists(layout, axes)))
    if read.experts:
        experts = AxisLayout(sizes=read.experts)
        groups += [
            (name, experts.stride(name), rank_lists(experts, (name,)))
            for name in read.experts
            if name != "pp"
        ]
    return groups


TITLE = "Rank lists of your mesh"
QUESTION = "Which ranks form which group in my own job?"
HEADLINE = "world"
EQUATIONS = ()
PRESETS = {"GPU 0": {"rank": 0}, "Nodes of four": {"gpus_per_node": 4}}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views: parsed mesh, groups, and the mesh in the other convention."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "answer": _mesh_badge(result),
        **present.values("world"),
        "mine": partial(_rank_groups, inputs, result),
        "axes_table": partial(_axes, inputs, result),
        "lists": partial(_group_lists, result),
        "other": partial(_other_framework, result.read),
    }


def _mesh_badge(result: Result) -> Badge:
    read = result.read
    if read is None:
        return Badge(text="No mesh", sentence=f"{result.problem}.", color="bad")
    order = ", ".join(f"{name} {size}" for name, size in read.sizes.items())
    least = " The text names no GPUs; this is the least." if read.assumed else ""
    return Badge(
        text=f"{read.source}: {read.world_size:,} GPUs",
        sentence=f"The innermost axis first: {order}.{least}",
        color="data",
    )


def _rank_list(ranks: Ranks) -> str:
    if len(ranks) > SHOWN * 2:
        first = ", ".join(f"{rank}" for rank in ranks[:SHOWN])
        return f"[{first}, ..., {ranks[-1]}]"
    return "[" + ", ".join(f"{rank}" for rank in ranks) + "]"


def _rank_groups(inputs: Inputs, result: Result) -> Table:
    """Return the groups of a GPU."""
    rows = []
    for name, _, groups in result.groups:
        group = next(ranks for ranks in groups if result.rank in ranks)
        nodes = len({rank // inputs.gpus_per_node for rank in group})
        rows.append(
            (
                name,
                _rank_list(group),
                say("{n}", n=(group.index(result.rank), COUNT)),
                "one node" if nodes == 1 else say("{n} nodes", n=(nodes, COUNT)),
            )
        )
    return Table(
        title=f"The groups of GPU {result.rank}",
        columns=("Group", "Ranks", "Its place", "On"),
        rows=tuple(rows),
        caption="Places count from 0.",
    )


def _axes(inputs: Inputs, result: Result) -> Table:
    """Return every kind of group with its first groups."""
    rows = tuple(
        (
            name,
            say("{n}", n=(len(groups[0]), COUNT)),
            say("{n}", n=(stride, COUNT)) if stride else "-",
            say("{n}", n=(len(groups), COUNT)),
            " ".join(_rank_list(ranks) for ranks in groups[:SHOWN])
            + (" ..." if len(groups) > SHOWN else ""),
        )
        for name, stride, groups in result.groups
    )
    return Table(
        title="All groups",
        columns=("Group", "Ranks", "Neighbors apart", "Groups", "The first of them"),
        rows=rows,
        caption="A name of two axes is a group over both: dp-cp sums gradients, tp-pp holds one "
        "model.",
    )


def _group_lists(result: Result) -> Code:
    """Return the rank lists as Python, truncated if long."""
    lines = []
    for name, _, groups in result.groups:
        shown = ", ".join(str(list(ranks)) for ranks in groups[:LISTED])
        more = f"  # and {len(groups) - LISTED} more" if len(groups) > LISTED else ""
        lines.append(f'"{name}": [{shown}],{more}')
    body = "\n".join("    " + line for line in lines)
    return Code(title="The lists", language="python", text=f"groups = {{\n{body}\n}}\n")


def _other_framework(read: MeshText | None) -> Code:
    """Return the mesh in the other framework's notation."""
    if read is None:
        return Code(title="The same elsewhere", language="text", text="")
    if read.source == "Megatron-LM":
        axes = [(name, size) for name, size in read.sizes.items() if size > 1] or [("dp", 1)]
        shape = ", ".join(f"{size}" for _, size in reversed(axes))
        names = ", ".join(f'"{name}"' for name, _ in reversed(axes))
        comma = "," if len(axes) == 1 else ""
        return Code(
            title="The same in PyTorch",
            language="python",
            text=f'init_device_mesh("cuda", ({shape}{comma}), mesh_dim_names=({names}{comma}))\n',
        )
    order = "-".join(read.sizes)
    sizes = " x ".join(f"{size}" for size in read.sizes.values())
    return Code(
        title="The same in Megatron's order",
        language="text",
        text=f"order {order}, innermost first: {sizes}\n",
    )
