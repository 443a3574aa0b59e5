"""How wide to shard: what a GPU keeps against what a node sends."""

from functools import partial

from engine.calculators.data_parallelism.shard_width.inputs import (
    NODE,
    Result,
)
from engine.calculators.data_parallelism.shard_width.inputs import (
    PRESETS as PRESETS,
)
from engine.calculators.data_parallelism.shard_width.inputs import (
    Inputs as Inputs,
)
from engine.calculators.data_parallelism.shard_width.inputs import (
    solve as solve,
)
from engine.core.outputs import Teller, Views
from engine.core.units import BYTES, COUNT
from engine.core.views import Badge, Lines, Point, Rule, Series, Table
from engine.formulas.node_volumes import NODE_BYTES
from engine.simulate.data_parallel.sharding_width import Way

TITLE = "How wide to shard"
QUESTION = "What does a GPU keep, and what leaves a node, if this many GPUs share one copy?"
EQUATIONS = (NODE_BYTES,)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "curve": partial(_curve, tell, result),
        "verdict": _verdict(tell, result),
        **tell.values("sent", "memory", "copies", "full", "less"),
        "front": partial(_front, tell, result),
        "ways": partial(_ways, tell, result),
    }


def _verdict(tell: Teller, result: Result) -> Badge:
    if result.memory > result.capacity:
        return Badge(
            text="Does not fit",
            sentence=tell.say(
                "{memory} of states, and the GPU has {capacity}. "
                + ("Use more GPUs." if result.width == result.job.ranks else "Shard wider.")
            ),
            color="bad",
        )
    if result.width == result.job.ranks:
        return Badge(
            text="One copy over all nodes",
            sentence=tell.say("Only {memory} of states on each GPU, and {sent} leave each node."),
            color="communication",
        )
    if result.sent > result.full:
        return Badge(
            text="More bytes than full sharding",
            sentence=tell.say(
                "The groups span nodes, and the copies add their gradients on top: {sent} instead "
                "of {full}."
            ),
            color="communication",
        )
    return Badge(
        text="Fewer bytes between nodes",
        sentence=tell.say("{sent} leave each node instead of {full}, for {memory} of states."),
        color="data",
    )


def _curve(tell: Teller, result: Result) -> Lines:
    xs = tuple(float(width) for width in result.widths)
    high = 1.15 * max(*result.once, *result.each)
    lines = [Series(key="once", label="added once a step", x=xs, y=result.once, color="data")]
    if result.each != result.once:
        lines.append(
            Series(
                key="each",
                label="added with every micro-batch",
                x=xs,
                y=result.each,
                color="communication",
                dashed=True,
            )
        )
    fits = next((n for n, one in zip(xs, result.along, strict=True)
                 if one.memory <= result.capacity), None)  # fmt: skip
    rules = [Rule(key="node", label="one node", axis="x", at=float(NODE), color="muted")]
    if fits and fits not in (1.0, float(NODE)):
        rules.append(Rule(key="fits", label="fits from here on", axis="x", at=fits, color="ink"))
    return Lines(
        title="Bytes that leave each node in a step",
        x=tell.axis("shard", "GPUs that share one copy", low=1, high=512, scale="log"),
        y=tell.axis("sent", "leaves each node", low=0.0, high=high),
        series=tuple(lines),
        points=(Point(key="now", label=tell.say("{sent}"), x=float(result.width), y=result.sent),),
        rules=tuple(rules),
        handle="shard",
        caption="Parameters are gathered and gradients reduced inside the group; then the copies "
        "add their gradients.",
    )


_NAMED = ("ZeRO-1", "ZeRO-2", "hpZ", "ZeRO++", "ZeRO-3", "HSDP 8", "HSDP 16", "HSDP 32")


def _front(tell: Teller, result: Result) -> Lines:
    ways = {one.key: one for one in (*result.fixed, *result.along)}
    least = min(one.memory for one in ways.values())
    most = max(one.memory for one in ways.values())
    high = 1.2 * max(one.sent for one in ways.values())
    best = {one.key for one in result.best}
    now = next(one for one in result.along if one.memory == result.memory)
    shown = [ways[key] for key in _NAMED if key in ways and key != now.key]
    return Lines(
        title="Memory against bytes between nodes",
        x=tell.axis("memory", "states on each GPU", low=least / 1.6, high=most * 1.6, scale="log"),
        y=tell.axis("sent", "leaves each node", low=0.0, high=high),
        series=(
            Series(
                key="widths",
                label="by width",
                x=tuple(one.memory for one in reversed(result.along)),
                y=tuple(one.sent for one in reversed(result.along)),
                color="data",
            ),
        ),
        points=(
            *(_point(one, "ink" if one.key in best else "muted") for one in shown),
            _point(now, "accent"),
        ),
        rules=(
            Rule(
                key="capacity",
                label=tell.say("a GPU has {capacity}"),
                axis="x",
                at=result.capacity,
                color="bad",
            ),
        ),
        caption="Down and to the left is better. Gray: another way needs no more memory and sends "
        "no more. ZeRO++ sends 8 and 4 bits, and so is not exact.",
    )


def _point(one: Way, color: str) -> Point:
    return Point(key=one.key, label=one.key, x=one.memory, y=one.sent, color=color)


def _ways(tell: Teller, result: Result) -> Table:
    best = {one.key for one in result.best}
    rows = []
    for one in sorted((*result.fixed, *result.along), key=lambda way: way.memory):
        fits = one.memory <= result.capacity
        rows.append(
            (
                one.key,
                tell.say("{m}", m=(one.memory, BYTES)),
                tell.say("{s}", s=(one.sent, BYTES)),
                "yes" if fits else "no",
                "" if one.key == "ZeRO++" else "no" if one.key in best else "yes",
            )
        )
    return Table(
        title="Every way to shard this job",
        columns=("Way", "States on each GPU", "Leaves each node", "States fit", "Beaten in both"),
        rows=tuple(rows),
        caption=tell.say(
            "HSDP with a number: that many of the {n} GPUs share one copy. Plain: nothing is "
            "sharded. ZeRO++ is not compared: it rounds what it sends.",
            n=(result.job.ranks, COUNT),
        ),
    )
