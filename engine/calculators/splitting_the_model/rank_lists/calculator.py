"""Rank lists: a pasted mesh or launch script, and which ranks form which group."""

from functools import partial

from engine.calculators.splitting_the_model.rank_lists.inputs import LISTED, SHOWN
from engine.calculators.splitting_the_model.rank_lists.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.rank_lists.inputs import Result as Result
from engine.calculators.splitting_the_model.rank_lists.inputs import solve as solve
from engine.core.outputs import Teller, Views
from engine.core.text import say
from engine.core.units import COUNT
from engine.core.views import Badge, Code, Table
from engine.run.mesh_text import MeshText
from engine.simulate.step.rank_lists import Ranks

TITLE = "Rank lists of your mesh"
QUESTION = "Which ranks form which group in my own job?"
EQUATIONS = ()
PRESETS = {"GPU 0": {"rank": 0}, "Nodes of four": {"gpus_per_node": 4}}


def views(inputs: Inputs, result: Result) -> Views:
    """Return what was read, the groups, and the same mesh in the other convention."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "answer": _answer(result),
        **tell.values("world"),
        "mine": partial(_mine, inputs, result),
        "axes_table": partial(_axes, inputs, result),
        "lists": partial(_lists, result),
        "other": partial(_other, result.read),
    }


def _answer(result: Result) -> Badge:
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


def _written(ranks: Ranks) -> str:
    if len(ranks) > SHOWN * 2:
        first = ", ".join(f"{rank}" for rank in ranks[:SHOWN])
        return f"[{first}, ..., {ranks[-1]}]"
    return "[" + ", ".join(f"{rank}" for rank in ranks) + "]"


def _mine(inputs: Inputs, result: Result) -> Table:
    """Return the groups of one GPU."""
    rows = []
    for name, _, groups in result.groups:
        own = next(ranks for ranks in groups if result.rank in ranks)
        nodes = len({rank // inputs.gpus_per_node for rank in own})
        rows.append(
            (
                name,
                _written(own),
                say("{n}", n=(own.index(result.rank), COUNT)),
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
            " ".join(_written(ranks) for ranks in groups[:SHOWN])
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


def _lists(result: Result) -> Code:
    """Return the lists as Python, long ones cut."""
    lines = []
    for name, _, groups in result.groups:
        shown = ", ".join(str(list(ranks)) for ranks in groups[:LISTED])
        more = f"  # and {len(groups) - LISTED} more" if len(groups) > LISTED else ""
        lines.append(f'"{name}": [{shown}],{more}')
    body = "\n".join("    " + line for line in lines)
    return Code(title="The lists", language="python", text=f"groups = {{\n{body}\n}}\n")


def _other(read: MeshText | None) -> Code:
    """Return the same mesh as the other framework writes it."""
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
