"""Shard width: memory per GPU against traffic per node."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import BYTES, COUNT, Bytes, Count, Parameters, Ratio
from engine.core.views import Badge, Line, Lines, Point, Rule, Scale, Series, Table
from engine.form.fields import LabGpu
from engine.form.sharded.lab import LabModel
from engine.formulas.node_volumes import NODE_BYTES
from engine.formulas.parameters import total_parameters
from engine.simulate.data_parallel.sharding_width import (
    ShardingJob,
    ShardingOption,
    kept_bytes,
    node_bytes,
    node_crossings,
    pareto_front,
    sharding_option,
    zero_option,
)
from engine.simulate.memory.allocator import usable_bytes

PRESETS = {
    "70B on 128 GPUs": {"model": "llama-3-70b", "ranks": "128", "shard": 32},
    "Eight micro-batches": {"micro_batches": 8},
    "Eight micro-batches, summed each time": {"micro_batches": 8, "sums": "each"},
}
NODE: Count = 8
_SIZES = (16, 32, 64, 128, 256, 512)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

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


_output = partial(
    Output,
    assumes=(
        "Nodes of eight GPUs. Each ring enters and leaves a node once, as NCCL lays them.",
        "Parameters and gradients cross in bf16.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The reader's width, and every other."""

    job: ShardingJob
    widths: tuple[Count, ...]
    fixed: tuple[ShardingOption, ...]
    along: tuple[ShardingOption, ...]
    once: tuple[Bytes, ...]
    each: tuple[Bytes, ...]
    best: tuple[ShardingOption, ...]
    width: Annotated[Count, Output(symbol="s", of="shard")]
    copies: Annotated[
        Count,
        Output("Copies", "c", "of all states", "data", ("All GPUs over the width.",), of="shard"),
    ]
    memory: Annotated[
        Bytes,
        Output(
            "States on each GPU",
            "M",
            "of {capacity} that may be filled",
            "optimizer",
            assumes=("Mixed precision with Adam. Activations and gathered layers come on top.",),
        ),
    ]
    capacity: Bytes
    sent: Annotated[
        Bytes,
        _output("Leaves each node", "V", "per step, all its GPUs together", color="communication"),
    ]
    full: Annotated[
        Bytes, _output("Leaves each node, fully sharded", "", "", color="communication")
    ]
    less: Annotated[
        Ratio,
        _output(
            "Full sharding sends",
            "",
            "what this width sends",
            color="communication",
        ),
    ]
    parameters: Annotated[Parameters, Output(symbol="N")]
    sent_parameters: Annotated[Bytes, Output(symbol="P")]
    sent_gradients: Annotated[Bytes, Output(symbol="G")]
    gathers: Annotated[Ratio, Output(symbol="a")]
    reductions: Annotated[Ratio, Output(symbol="r", of="micro_batches")]
    summed: Annotated[Ratio, Output(symbol="k", of="sums")]
    node: Annotated[Count, Output(symbol="g")] = NODE


def job_of(inputs: Inputs) -> ShardingJob:
    """Return the job with the reader's width as a power of two."""
    ranks = int(inputs.ranks)
    return ShardingJob(
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
    along = tuple(
        sharding_option(_name(width, job.ranks), replace(job, shard=width)) for width in widths
    )
    fixed = _fixed_ways(job)
    gathers, reductions, summed = node_crossings(job)
    full = node_bytes(replace(job, shard=job.ranks))
    return Result(
        job=job,
        widths=widths,
        fixed=fixed,
        along=along,
        once=tuple(node_bytes(replace(job, shard=width, sum_once=True)) for width in widths),
        each=tuple(node_bytes(replace(job, shard=width, sum_once=False)) for width in widths),
        best=pareto_front([option for option in (*fixed, *along) if option.key != "ZeRO++"]),
        width=job.shard,
        copies=job.ranks // job.shard,
        memory=kept_bytes(job),
        capacity=usable_bytes(GPUS[inputs.gpu].memory),
        sent=node_bytes(job),
        full=full,
        less=full / node_bytes(job),
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


def _fixed_ways(job: ShardingJob) -> tuple[ShardingOption, ...]:
    """Return the ways that have no width: stages 1 and 2, hpZ, and ZeRO++."""
    wide = replace(job, shard=job.ranks, second=True)
    return (
        *(
            zero_option(f"ZeRO-{stage}", stage, job.parameters, job.ranks, job.num_microbatches)
            for stage in (1, 2)
        ),
        sharding_option("hpZ", wide),
        sharding_option("ZeRO++", replace(wide, quantized=True)),
    )


TITLE = "How wide to shard"
QUESTION = "What does a GPU keep, and what leaves a node, if this many GPUs share one copy?"
HEADLINE = "memory"
EQUATIONS = (NODE_BYTES,)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "curve": partial(_curve, present, result),
        "verdict": _verdict(present, result),
        **present.values("sent", "memory", "copies", "full", "less"),
        "front": partial(_front_chart, present, result),
        "ways": partial(_way_table, present, result),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    if result.memory > result.capacity:
        return Badge(
            text="Does not fit",
            sentence=present.say(
                "{memory} of states, and {capacity} may be filled. "
                + ("Use more GPUs." if result.width == result.job.ranks else "Shard wider.")
            ),
            color="bad",
        )
    if result.width == result.job.ranks:
        return Badge(
            text="One copy over all nodes",
            sentence=present.say(
                "Only {memory} of states on each GPU, and {sent} leave each node."
            ),
            color="communication",
        )
    if result.sent > result.full:
        return Badge(
            text="More bytes than full sharding",
            sentence=present.say(
                "The groups span nodes, and the copies add their gradients on top: {sent} instead "
                "of {full}."
            ),
            color="communication",
        )
    return Badge(
        text="Fewer bytes between nodes",
        sentence=present.say("{sent} leave each node instead of {full}, for {memory} of states."),
        color="data",
    )


def _curve(present: Presenter, result: Result) -> Lines:
    lines = [Line("once", "added once a step", result.once, "data")]
    if result.each != result.once:
        label = "added with every micro-batch"
        lines.append(Line("each", label, result.each, "communication", dashed=True))
    options = zip(result.widths, result.along, strict=True)
    fits = next((float(n) for n, option in options if option.memory <= result.capacity), None)
    rules = [Rule(key="node", label="one node", axis="x", at=float(NODE), color="muted")]
    if fits and fits not in (1.0, float(NODE)):
        rules.append(Rule(key="fits", label="fits from here on", axis="x", at=fits, color="ink"))
    return present.curve(
        "Bytes that leave each node in a step",
        over=Scale("shard", "GPUs that share one copy", 1, 512, log=True),
        shows=Scale("sent", "leaves each node", 0.0, 1.15 * max(*result.once, *result.each)),
        x=result.widths,
        lines=lines,
        marked=False,
        points=(Point(key="now", label=present.say("{sent}"), x=result.width, y=result.sent),),
        rules=tuple(rules),
        caption="Parameters are gathered and gradients reduced inside the group; then the copies "
        "add their gradients.",
    )


_NAMED = ("ZeRO-1", "ZeRO-2", "hpZ", "ZeRO++", "ZeRO-3", "HSDP 8", "HSDP 16", "HSDP 32")


def _front_chart(present: Presenter, result: Result) -> Lines:
    options = {option.key: option for option in (*result.fixed, *result.along)}
    least = min(option.memory for option in options.values())
    most = max(option.memory for option in options.values())
    high = 1.2 * max(option.sent for option in options.values())
    best = {option.key for option in result.best}
    now = next(option for option in result.along if option.memory == result.memory)
    shown = [options[key] for key in _NAMED if key in options and key != now.key]
    return Lines(
        title="Memory against bytes between nodes",
        x=present.axis(
            "memory", "states on each GPU", low=least / 1.6, high=most * 1.6, scale="log"
        ),
        y=present.axis("sent", "leaves each node", low=0.0, high=high),
        series=(
            Series(
                key="widths",
                label="by width",
                x=tuple(option.memory for option in reversed(result.along)),
                y=tuple(option.sent for option in reversed(result.along)),
                color="data",
            ),
        ),
        points=(
            *(_point(option, "ink" if option.key in best else "muted") for option in shown),
            _point(now, "accent"),
        ),
        rules=(
            Rule(
                key="capacity",
                label=present.say("usable: {capacity}"),
                axis="x",
                at=result.capacity,
                color="bad",
            ),
        ),
        caption="Down and to the left is better. Gray: another way needs no more memory and sends "
        "no more. ZeRO++ sends 8 and 4 bits, and so is not exact.",
    )


def _point(option: ShardingOption, color: str) -> Point:
    return Point(key=option.key, label=option.key, x=option.memory, y=option.sent, color=color)


def _way_table(present: Presenter, result: Result) -> Table:
    best = {option.key for option in result.best}
    rows = []
    for option in sorted((*result.fixed, *result.along), key=lambda option: option.memory):
        fits = option.memory <= result.capacity
        rows.append(
            (
                option.key,
                present.say("{m}", m=(option.memory, BYTES)),
                present.say("{s}", s=(option.sent, BYTES)),
                "yes" if fits else "no",
                "" if option.key == "ZeRO++" else "no" if option.key in best else "yes",
            )
        )
    return Table(
        title="Every way to shard this job",
        columns=("Way", "States on each GPU", "Leaves each node", "States fit", "Worse in both"),
        rows=tuple(rows),
        caption=present.say(
            "HSDP with a number: that many of the {n} GPUs share one copy. Plain: nothing is "
            "sharded. ZeRO++ is not compared: it rounds what it sends.",
            n=(result.job.ranks, COUNT),
        ),
    )
