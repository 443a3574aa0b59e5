"""How wide to shard: what a GPU keeps against what a node sends."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Teller, Told, Views
from engine.core.units import BYTES, COUNT, Bytes, Count, Parameters, Ratio
from engine.core.views import Badge, Lines, Point, Rule, Series, Table
from engine.form.fields import LabGpu
from engine.form.sharded.lab import LabModel
from engine.formulas.node_volumes import NODE_BYTES
from engine.formulas.parameters import total_parameters
from engine.simulate.data_parallel.sharding_width import (
    Sharers,
    Way,
    crossings,
    front,
    kept,
    replicated,
    sent,
    way,
)

PRESETS = {
    "70B on 128 GPUs": {"model": "llama-3-70b", "ranks": "128", "shard": 32},
    "Eight micro-batches": {"micro_batches": 8},
    "Eight micro-batches, summed each time": {"micro_batches": 8, "sums": "each"},
}
NODE: Count = 8
_SIZES = (16, 32, 64, 128, 256, 512)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    shard: Annotated[
        int,
        Number(
            label="GPUs that share one copy",
            low=1,
            high=512,
            scale="log2",
            whole=True,
            help="The width of a shard group. It is rounded to a power of two, at most all GPUs.",
        ),
    ] = 64
    micro_batches: Annotated[
        int, Number(label="Micro-batches per step", low=1, high=32, whole=True)
    ] = 1
    sums: Annotated[
        str,
        Choice(
            label="Copies add their gradients",
            options={"once": "once a step", "each": "with every micro-batch"},
            help="set_requires_all_reduce in FSDP2; MiCS adds them once a step.",
        ),
    ] = "once"
    model: LabModel = "llama-3-8b"
    ranks: Annotated[str, Choice(label="GPUs", options={str(n): f"{n:,}" for n in _SIZES})] = "64"
    gpu: LabGpu = "h100"


_told = partial(
    Told,
    assumes=(
        "Nodes of eight GPUs. Each ring enters and leaves a node once, as NCCL lays them.",
        "Parameters and gradients cross in bf16.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The reader's width, and every other."""

    job: Sharers
    widths: tuple[Count, ...]
    fixed: tuple[Way, ...]
    along: tuple[Way, ...]
    once: tuple[Bytes, ...]
    each: tuple[Bytes, ...]
    best: tuple[Way, ...]
    width: Annotated[Count, Told(symbol="s", of="shard")]
    copies: Annotated[
        Count,
        Told("Copies", "c", "of all states", "data", ("All GPUs over the width.",), of="shard"),
    ]
    memory: Annotated[
        Bytes,
        Told(
            "States on each GPU",
            "M",
            "of {capacity} that the GPU has",
            "optimizer",
            assumes=("Mixed precision with Adam. Activations and gathered layers come on top.",),
        ),
    ]
    capacity: Bytes
    sent: Annotated[
        Bytes,
        _told("Leaves each node", "V", "per step, all its GPUs together", color="communication"),
    ]
    full: Annotated[Bytes, _told("Leaves each node, fully sharded", "", "", color="communication")]
    less: Annotated[
        Ratio,
        _told(
            "Full sharding sends",
            "",
            "what this width sends",
            color="communication",
        ),
    ]
    parameters: Annotated[Parameters, Told(symbol="N")]
    sent_parameters: Annotated[Bytes, Told(symbol="P")]
    sent_gradients: Annotated[Bytes, Told(symbol="G")]
    gathers: Annotated[Ratio, Told(symbol="a")]
    reductions: Annotated[Ratio, Told(symbol="r", of="micro_batches")]
    summed: Annotated[Ratio, Told(symbol="k", of="sums")]
    node: Annotated[Count, Told(symbol="g")] = NODE


def job_of(inputs: Inputs) -> Sharers:
    """Return the job with the reader's width as a power of two."""
    ranks = int(inputs.ranks)
    return Sharers(
        parameters=total_parameters(MODELS[inputs.model]),
        ranks=ranks,
        gpus_per_node=NODE,
        shard=min(2 ** round(math.log2(inputs.shard)), ranks),
        num_microbatches=inputs.micro_batches,
        sum_once=inputs.sums == "once",
    )


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    job = job_of(inputs)
    widths = tuple(2**i for i in range(job.ranks.bit_length()))
    along = tuple(way(_name(width, job.ranks), replace(job, shard=width)) for width in widths)
    fixed = _fixed(job)
    gathers, reductions, summed = crossings(job)
    full = sent(replace(job, shard=job.ranks))
    return Result(
        job=job,
        widths=widths,
        fixed=fixed,
        along=along,
        once=tuple(sent(replace(job, shard=width, sum_once=True)) for width in widths),
        each=tuple(sent(replace(job, shard=width, sum_once=False)) for width in widths),
        best=front([one for one in (*fixed, *along) if one.key != "ZeRO++"]),
        width=job.shard,
        copies=job.ranks // job.shard,
        memory=kept(job),
        capacity=GPUS[inputs.gpu].memory,
        sent=sent(job),
        full=full,
        less=full / sent(job),
        parameters=job.parameters,
        sent_parameters=2.0 * job.parameters,
        sent_gradients=2.0 * job.parameters,
        gathers=gathers,
        reductions=reductions,
        summed=summed,
    )


def _name(width: Count, ranks: Count) -> str:
    if width == ranks:
        return "ZeRO-3"
    return "plain" if width == 1 else f"HSDP {width}"


def _fixed(job: Sharers) -> tuple[Way, ...]:
    """Return the ways that have no width: stages 1 and 2, hpZ, and ZeRO++."""
    wide = replace(job, shard=job.ranks, second=True)
    return (
        *(
            replicated(f"ZeRO-{stage}", stage, job.parameters, job.ranks, job.num_microbatches)
            for stage in (1, 2)
        ),
        way("hpZ", wide),
        way("ZeRO++", replace(wide, quantized=True)),
    )


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
