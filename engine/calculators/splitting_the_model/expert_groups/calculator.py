"""Does expert parallelism multiply my GPUs? The groups of a plan, by two conventions."""

from functools import partial

from engine.calculators.splitting_the_model.expert_groups.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.expert_groups.inputs import Result as Result
from engine.calculators.splitting_the_model.expert_groups.inputs import solve as solve
from engine.core.outputs import Teller, Views
from engine.core.text import Text, say
from engine.core.units import COUNT
from engine.core.views import Badge, Code, Scene, Table
from engine.draw.rank_grid import Look, rank_grid
from engine.formulas.experts import FOLDED_LEAST, WITHIN_LEAST

TITLE = "Does EP multiply my GPUs?"
QUESTION = "How many GPUs does a plan with expert parallelism need, and who shares what with whom?"
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
    """Return the answer, the sizes and the groups."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "answer": _answer(tell, inputs, result),
        **tell.values("world", "mistaken", "data", "expert_data", "least", "least_within"),
        "grid": partial(_grid, inputs, result),
        "groups": partial(_groups, result),
        "flags": _flags(inputs, result),
    }


def _answer(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    """Return "no", or why the plan is refused."""
    mesh = result.mesh
    if mesh.world_size != inputs.world_size:
        return Badge(
            text="The sizes do not multiply to your GPUs",
            sentence=tell.say(
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
            sentence=tell.say(words, room=(mesh.room, COUNT)),
            color="communication",
        )
    return Badge(
        text="No",
        sentence=tell.say(
            "The plan runs on {world} GPUs with and without EP {expert_parallel}. The experts' "
            "groups reuse ranks that attention uses otherwise."
        ),
        color="compute",
    )


def _grid(inputs: Inputs, result: Result) -> Scene:
    """Return the first GPUs as a grid, a frame for every axis of the chosen one."""
    mesh = result.mesh
    count = min(mesh.world_size, _DRAWN)
    chosen = min(inputs.rank, count - 1)
    looks = []
    for axis, (short, what) in _AXES.items():
        found = [group for group in _shown(result, axis) if chosen in group]
        ranks = found[0] if found else (chosen,)
        caption: Text = say(
            f"{short}: GPU {chosen} is one of {{n}} that {what}.", n=(len(ranks), COUNT)
        )
        if len(ranks) == 1:
            caption = f"{short}: GPU {chosen} is alone."
        looks.append(Look(ranks=ranks, color=axis.removesuffix("_data"), caption=caption))
    return rank_grid(count, min(inputs.gpus_per_node, 16), chosen, looks)


def _shown(result: Result, axis: str) -> tuple[tuple[int, ...], ...]:
    """Return the groups of an axis; none of experts that do not fit."""
    experts = axis in ("expert", "expert_data")
    return () if experts and not result.mesh.fits else result.mesh.along(axis)


def _groups(result: Result) -> Table:
    rows: list[tuple[Text, ...]] = []
    for axis, (short, what) in _AXES.items():
        found = _shown(result, axis)
        if not found:
            rows.append((short, what, "-", "-", "refused"))
            continue
        shown = "; ".join(", ".join(map(str, group[:8])) for group in found[:_LISTED])
        more = " ..." if len(found) > _LISTED or len(found[0]) > 8 else ""
        rows.append(
            (
                short,
                what,
                say("{n}", n=(len(found[0]), COUNT)),
                say("{n}", n=(len(found), COUNT)),
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
    """Return the settings that ask for this plan."""
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
