"""Waterfall and topology tabs of the explorer: messages, times per axis, and the map."""

from dataclasses import replace
from functools import lru_cache

from engine.calculators.whole_runs.stack_explorer.inputs import Inputs, Job, Part
from engine.calculators.whole_runs.stack_explorer.result import Result
from engine.core.outputs import Presenter
from engine.core.text import say
from engine.core.units import BYTES, COUNT, SECONDS
from engine.core.views import Badge, Bar, Bars, Cell, Scene, Segment, Table
from engine.draw.rank_map import Look, map_scene
from engine.form.axis_names import SHORT
from engine.simulate.network.node_message import NodeMessage

_PARTS = (
    ("launch", "launch of the kernel", "compute"),
    ("hop", "from node to node", "accent"),
    ("wire", "on the wire", "communication"),
    ("loss", "wire slower than its rate", "memory"),
)


def waterfall(present: Presenter, result: Result) -> Bars:
    """Return the time breakdown of messages of several sizes."""
    longest = max(message.time for message in result.messages.values())
    return Bars(
        title="What a message between two nodes spends its time on",
        axis=present.axis("message_time", "time", low=0.0, high=1.05 * longest),
        bars=tuple(_bar(name, message) for name, message in result.messages.items()),
        caption=present.say("The last bar is your message of {message}."),
    )


def _bar(name: str, message: NodeMessage) -> Bar:
    return Bar(
        key=name.replace(" ", ""),
        label=name,
        segments=tuple(
            Segment(
                key=key,
                label=label,
                value=getattr(message, key),
                color=color,
                links=(f"part:{key}",),
            )
            for key, label, color in _PARTS
        ),
    )


def message_regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    """Return the bottleneck of the chosen message."""
    even = result.messages["yours"].even
    small = inputs.message < even
    return Badge(
        text="Latency" if small else "Bandwidth",
        sentence=present.say(
            "From {b} on, the bytes take longer than launch and hop.", b=(even, BYTES)
        ),
        color="accent" if small else "communication",
    )


_TIMES = (
    "On the wire: bytes over line rate. Alone: at the bandwidth that collectives reach. Step "
    "waits: what no computation hides."
)
_UNEVEN = (
    " Bytes are those of a stage with the mean number of layers, of the data axis with the "
    "embedding; the step waits for the stage with the most layers."
)
_NONE: tuple[tuple[Cell, ...], ...] = (("none", "-", "-", "-", "-"),)


def axis_times(job: Job) -> Table:
    """Return each axis's time at line rate, unoverlapped, and exposed."""
    rows: list[tuple[Cell, ...]] = [
        (
            wire.key,
            say("{b}", b=(wire.sent, BYTES)),
            *(
                say("{t}", t=(time, SECONDS))
                for time in (wire.at_line_rate, wire.alone, wire.exposed)
            ),
        )
        for wire in job.wires
    ]
    return Table(
        title="Three times that are often confused",
        columns=("Axis", "Sent per step", "On the wire", "Alone", "Step waits"),
        rows=tuple(rows) or _NONE,
        caption=_TIMES + (_UNEVEN if job.uneven else ""),
    )


def axes(job: Job) -> Table:
    """Return the placement and link of every axis's groups."""
    rows: list[tuple[Cell, ...]] = [
        (
            f"{wire.key} ({SHORT[wire.key]})",
            say("{n}", n=(wire.ranks, COUNT)),
            say("{n}", n=(wire.nodes, COUNT)),
            "NVLink" if wire.inside else "network",
            say("{n}", n=(round(wire.messages), COUNT)),
        )
        for wire in job.wires
    ]
    return Table(
        title="The axes and their links",
        columns=("Axis", "Ranks", "Nodes of a group", "Link", "Messages per step"),
        rows=tuple(rows) or _NONE,
        caption="Data parallelism counts the ranks of context parallelism too: they hold the same "
        "parameters.",
        # The groups of GPU 0, which the map shows, are named by their first rank.
        links=tuple((f"group:{SHORT[wire.key].lower()}:0",) for wire in job.wires) or ((),),
    )


@lru_cache(maxsize=4)
def cluster_map(part: Part) -> Scene:
    """Return the GPUs in their nodes with the groups of GPU 0; of a large job a part."""
    named = {axis: f"{SHORT[axis]} {part.sizes[axis]}" for axis in part.firsts[0]}
    names = tuple(
        {axis: f"group:{SHORT[axis].lower()}:{first}" for axis, first in firsts.items()}
        for firsts in part.firsts
    )
    caption = say(
        "One GPU, alone."
        if part.world_size == 1
        else "{n} of {all} GPUs, with the groups of GPU 0. Dashed: leaves the node.",
        n=(part.mesh.world_size, COUNT),
        all=(part.world_size, COUNT),
    )
    drawn = map_scene(part.mesh, 0, names, (Look(axis=None, caption=caption),), named, ("", 1))
    return replace(drawn, caption="Choose a GPU: what lights up belongs to one of its groups.")
