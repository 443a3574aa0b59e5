"""Does expert parallelism multiply my GPUs? The groups of a plan, by two conventions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, Count
from engine.core.views import Badge, Code, Frame, Scene, Shape, Table
from engine.formulas.experts import FOLDED_LEAST, WITHIN_LEAST, folded_least, within_least
from engine.simulate.layer.expert_mesh import Convention, ExpertMesh

_WIDTH, _LEFT, _FONT = 428.0, 4.0, 14.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A frame: highlighted ranks, their color, and the caption."""

    ranks: tuple[Count, ...]
    color: str
    caption: Text


def rank_grid(count: Count, per_row: Count, chosen: Count, looks: Sequence[Look]) -> Scene:
    """Return the rank grid; `opening` is the last frame but one."""
    side = (_WIDTH - 2 * _LEFT) / per_row
    high = min(side, 40.0)
    rows = -(-count // per_row)
    return Scene(
        title="Whom the chosen GPU shares what with",
        width=_WIDTH,
        height=rows * high + 8,
        frames=tuple(
            Frame(
                caption=look.caption,
                shapes=tuple(
                    shape
                    for rank in range(count)
                    for shape in _cell(rank, per_row, (side, high), chosen, look)
                ),
            )
            for look in looks
        ),
        opening=max(0, len(looks) - 2),
        caption="A row is a node. Colored cells are the group of the GPU with the thick border.",
    )


def _cell(
    rank: Count, per_row: Count, size: tuple[float, float], chosen: Count, look: Look
) -> tuple[Shape, Shape]:
    row, column = divmod(rank, per_row)
    x, y = _LEFT + column * size[0], 4 + row * size[1]
    inside = rank in look.ranks
    kind = "cell done" if rank == chosen else "cell"
    square = Shape(
        key=f"g{rank}",
        tag="rect",
        attributes={
            "x": f"{x + 1:.1f}",
            "y": f"{y + 1:.1f}",
            "width": f"{size[0] - 2:.1f}",
            "height": f"{size[1] - 2:.1f}",
            "class": f"{kind} c-{look.color if inside else 'muted'}",
            "fill-opacity": "0.6" if inside else "0.06",
            "data-links": f"rank:{rank}",
        },
    )
    words = {
        "x": f"{x + size[0] / 2:.1f}",
        "y": f"{y + size[1] / 2 + 5:.1f}",
        "font-size": f"{min(_FONT, size[0] * 0.55):.3g}",
        "text-anchor": "middle",
        "class": "value c-ink",
    }
    return square, Shape(key=f"n{rank}", tag="text", attributes=words, text=f"{rank}")


_SIZE = {"low": 1, "scale": "log2", "whole": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    convention: Annotated[
        str,
        Choice(
            label="Software",
            options={
                "folded": "Megatron Core, torchtitan (folded)",
                "within": "DeepSpeed, older Megatron (within data)",
            },
        ),
    ] = "folded"
    world_size: Annotated[int, Number(label="GPUs", high=1024, symbol="n", **_SIZE)] = 64
    tensor_parallel: Annotated[int, Number(label="Tensor (TP)", high=16, symbol="t", **_SIZE)] = 4
    context_parallel: Annotated[int, Number(label="Context (CP)", high=16, symbol="c", **_SIZE)] = 1
    pipeline_parallel: Annotated[
        int, Number(label="Pipeline (PP)", high=16, symbol="p", **_SIZE)
    ] = 2
    expert_parallel: Annotated[int, Number(label="Expert (EP)", high=256, symbol="e", **_SIZE)] = 8
    expert_tensor_parallel: Annotated[
        int,
        Number(
            label="Tensor, within an expert (ETP)",
            high=16,
            symbol="x",
            help="Of the folded convention. DeepSpeed splits experts as it splits attention.",
            **_SIZE,
        ),
    ] = 1
    rank: Annotated[
        int,
        Number(
            label="GPU shown",
            low=0,
            high=1023,
            whole=True,
            help="Counted from 0. If the plan has fewer GPUs, its last one is shown.",
        ),
    ] = 0
    gpus_per_node: Annotated[
        int, Number(label="GPUs per node", low=1, high=72, whole=True, advanced=True)
    ] = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The mesh and its sizes."""

    mesh: ExpertMesh
    world: Annotated[
        Count,
        Output(
            "GPUs in all",
            "N",
            note="TP × CP × DP × PP; experts do not occur in it",
            color="ink",
            assumes=("Data parallelism takes what the other axes leave.",),
            sources=("megatron_moe", "torchtitan_dims"),
            basis="definition",
        ),
    ]
    mistaken: Annotated[
        Count,
        Output(
            "If EP multiplied",
            note="what you would rent by mistake",
            color="muted",
            assumes=("All five axes multiplied.",),
            basis="definition",
        ),
    ]
    data: Annotated[
        Count,
        Output(
            "Data-parallel ranks",
            "d",
            note="for attention: they see different tokens",
            color="data",
            basis="definition",
            assumes=("What tensor, context and pipeline parallelism leave.",),
        ),
    ]
    expert_data: Annotated[
        Count,
        Output(
            "Ranks with the same experts",
            note="over them the experts' gradients are summed",
            color="expert",
            basis="definition",
            assumes=("What expert parallelism leaves of the ranks it is taken from.",),
        ),
    ]
    stage_least: Annotated[Count, Output(symbol="l")]
    least: Annotated[
        Count,
        Output(
            "GPUs at least, folded",
            "n",
            note="enough in a stage for attention and for the experts",
            assumes=("TP × CP and EP × ETP both have to divide the ranks of a stage.",),
        ),
    ]
    least_within: Annotated[
        Count,
        Output(
            "GPUs at least, within data",
            "m",
            note="as many data-parallel ranks as EP",
            assumes=("The experts' groups lie inside the data-parallel ranks.",),
        ),
    ]


def mesh_of(inputs: Inputs) -> ExpertMesh:
    """Return the device mesh; data parallelism takes the remaining ranks, at least one."""
    others = inputs.tensor_parallel * inputs.context_parallel * inputs.pipeline_parallel
    return ExpertMesh(
        tensor=inputs.tensor_parallel,
        context=inputs.context_parallel,
        data=max(1, inputs.world_size // others),
        pipeline=inputs.pipeline_parallel,
        expert=inputs.expert_parallel,
        expert_tensor=inputs.expert_tensor_parallel,
        convention=cast(Convention, inputs.convention),
    )


def solve(inputs: Inputs) -> Result:
    """Return the mesh and its sizes."""
    mesh = mesh_of(inputs)
    dense = inputs.tensor_parallel * inputs.context_parallel
    sparse = inputs.expert_parallel * inputs.expert_tensor_parallel
    return Result(
        mesh=mesh,
        world=mesh.world_size,
        mistaken=mesh.world_size * inputs.expert_parallel,
        data=mesh.data,
        expert_data=mesh.expert_data if mesh.fits else 0,
        stage_least=math.lcm(dense, sparse),
        least=folded_least(inputs.pipeline_parallel, dense, sparse),
        least_within=within_least(inputs.pipeline_parallel, dense, inputs.expert_parallel),
    )


TITLE = "Does EP multiply my GPUs?"
QUESTION = "How many GPUs does a plan with expert parallelism need, and who shares what with whom?"
HEADLINE = "world"
EQUATIONS = (FOLDED_LEAST, WITHIN_LEAST)
PRESETS = {
    "Megatron Core's example: 256 GPUs, EP 64": {
        "world_size": 256,
        "tensor_parallel": 4,
        "context_parallel": 2,
        "pipeline_parallel": 4,
        "expert_parallel": 64,
    },
    "DeepSpeed's example: 16 GPUs, EP 4": {
        "convention": "within",
        "world_size": 16,
        "tensor_parallel": 2,
        "pipeline_parallel": 1,
        "expert_parallel": 4,
    },
    "CP 8 and EP 8 on 8 GPUs": {
        "world_size": 8,
        "tensor_parallel": 1,
        "context_parallel": 8,
        "pipeline_parallel": 1,
    },
}
_DRAWN, _LISTED = 64, 4
_AXES = {
    "tensor": ("TP", "split every matrix of attention"),
    "context": ("CP", "split every sequence"),
    "data": ("DP", "see different tokens and hold the same attention"),
    "expert": ("EP", "hold different experts and exchange tokens"),
    "expert_data": ("EDP", "hold the same experts and sum their gradients"),
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the verdict on the mesh, the sizes of its groups and the groups."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "answer": _mesh_badge(present, inputs, result),
        **present.values("world", "mistaken", "data", "expert_data", "least", "least_within"),
        "grid": partial(_grid, inputs, result),
        "groups": partial(_groups, result),
        "flags": _flags(inputs, result),
    }


def _mesh_badge(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    """Return "no", or why the plan is refused."""
    mesh = result.mesh
    if mesh.world_size != inputs.world_size:
        return Badge(
            text="The sizes do not multiply to your GPUs",
            sentence=present.say(
                "TP × CP × PP is {asked}, which does not divide {world_size} GPUs. Below: the "
                "plan on {world}.",
                asked=(
                    inputs.tensor_parallel * inputs.context_parallel * inputs.pipeline_parallel,
                    COUNT,
                ),
            ),
            color="communication",
        )
    if not mesh.fits:
        folded = mesh.convention == "folded"
        words = (
            "EP {expert_parallel} × ETP {expert_tensor_parallel} does not divide the {room} ranks "
            "of a stage, from which both are taken."
            if folded
            else "EP {expert_parallel} does not divide the {room} data-parallel ranks that it is "
            "taken from."
        )
        return Badge(
            text="Refused",
            sentence=present.say(words, room=(mesh.room, COUNT)),
            color="communication",
        )
    return Badge(
        text="No",
        sentence=present.say(
            "The plan runs on {world} GPUs with and without EP {expert_parallel}. The experts' "
            "groups reuse ranks that attention uses otherwise."
        ),
        color="compute",
    )


def _grid(inputs: Inputs, result: Result) -> Scene:
    """Return the first GPUs as a grid, with a frame for each axis of the chosen GPU."""
    mesh = result.mesh
    count = min(mesh.world_size, _DRAWN)
    chosen = min(inputs.rank, count - 1)
    looks = []
    for axis, (short, meaning) in _AXES.items():
        groups = [group for group in _shown_groups(result, axis) if chosen in group]
        ranks = groups[0] if groups else (chosen,)
        caption: Text = say(
            f"{short}: GPU {chosen} is one of {{n}} that {meaning}.", n=(len(ranks), COUNT)
        )
        if len(ranks) == 1:
            caption = f"{short}: GPU {chosen} is alone."
        looks.append(Look(ranks=ranks, color=axis.removesuffix("_data"), caption=caption))
    return rank_grid(count, min(inputs.gpus_per_node, 16), chosen, looks)


def _shown_groups(result: Result, axis: str) -> tuple[tuple[int, ...], ...]:
    """Return the groups of an axis; none of experts that do not fit."""
    experts = axis in ("expert", "expert_data")
    return () if experts and not result.mesh.fits else result.mesh.along(axis)


def _groups(result: Result) -> Table:
    rows: list[tuple[Text, ...]] = []
    for axis, (short, meaning) in _AXES.items():
        groups = _shown_groups(result, axis)
        if not groups:
            rows.append((short, meaning, "-", "-", "refused"))
            continue
        shown = "; ".join(", ".join(map(str, group[:8])) for group in groups[:_LISTED])
        more = " ..." if len(groups) > _LISTED or len(groups[0]) > 8 else ""
        rows.append(
            (
                short,
                meaning,
                say("{n}", n=(len(groups[0]), COUNT)),
                say("{n}", n=(len(groups), COUNT)),
                shown + more,
            )
        )
    return Table(
        title="Groups, by their ranks",
        columns=("Axis", "Its ranks", "Ranks", "Groups", "The first groups"),
        rows=tuple(rows),
        caption="Ranks are numbered with TP innermost, then CP, DP and PP.",
    )


def _flags(inputs: Inputs, result: Result) -> Code:
    """Return the framework settings of this plan."""
    if inputs.convention == "within":
        text = (
            f"deepspeed.moe.layer.MoE(..., ep_size={inputs.expert_parallel},\n"
            "    enable_expert_tensor_parallelism=True)"
        )
        return Code(title="In DeepSpeed", language="python", text=text)
    text = (
        f"--tensor-model-parallel-size {inputs.tensor_parallel} \\\n"
        f"--context-parallel-size {inputs.context_parallel} \\\n"
        f"--pipeline-model-parallel-size {inputs.pipeline_parallel} \\\n"
        f"--expert-model-parallel-size {inputs.expert_parallel} \\\n"
        f"--expert-tensor-parallel-size {inputs.expert_tensor_parallel}"
    )
    return Code(title="In Megatron-LM", language="bash", text=text)
