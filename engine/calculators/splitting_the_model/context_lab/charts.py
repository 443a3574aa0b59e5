"""The charts of the lab: ways side by side, the ratio over ranks, the map, and memory."""

import math
from dataclasses import replace

from engine.basis.text import say
from engine.basis.told import Teller
from engine.basis.units import BYTES, COUNT, RATIO, SECONDS, SHARE, TOKENS
from engine.basis.views import (
    Axis,
    Bar,
    Bars,
    Heatmap,
    Lines,
    Point,
    Rule,
    Segment,
    Series,
)
from engine.calculators.splitting_the_model.context_lab.inputs import (
    LENGTHS,
    MOST,
    Inputs,
    job_of,
)
from engine.calculators.splitting_the_model.context_lab.result import Result, blocks_of
from engine.form.memory_bar import parts_of
from engine.formulas.context import ring_buffer
from engine.simulate.context_job import added, hidden_up_to, layer_without, step_ratio

_WAYS = {
    "ring": "ring, zig-zag, two buffers",
    "one": "ring, zig-zag, one buffer",
    "contiguous": "ring, contiguous",
    "gather": "all-gather, zig-zag",
    "swap": "Ulysses",
}
_RANKS = tuple(1 << power for power in range(1, 9))
# Rows and columns of the map double, over all that a reader can set.
_ROWS = tuple(1 << power for power in range(MOST.bit_length()))
_COLUMNS = tuple(
    1 << power for power in range(LENGTHS[0].bit_length() - 1, LENGTHS[1].bit_length())
)
_POINTS = 25


def by_way(result: Result) -> Bars:
    """Return the attention of a layer and what each way adds to it."""
    core = sum(result.job.core)
    bars = []
    for key, name in _WAYS.items():
        one = result.alternatives[key]
        if key == "swap" and not result.allowed["swap"]:
            continue
        parts = (
            ("core", "attention, evenly dealt", core, "compute"),
            ("merged", "merging results", one.merged, "memory"),
            ("waits", "waited for", one.waits, "communication"),
        )
        segments = tuple(Segment(key=k, label=t, value=v, color=c) for k, t, v, c in parts)
        bars.append(Bar(key=key, label=name, segments=segments))
    most = max(sum(part.value for part in bar.segments) for bar in bars)
    return Bars(
        title="The attention of one layer, by the way of keys and values",
        axis=Axis(label="forward and backward", quantity=SECONDS, low=0.0, high=1.05 * most),
        bars=tuple(bars),
        caption="Waited for: messages, or the rank that has more to compute. The cut and the "
        "buffers are those named in each row."
        if result.allowed["swap"]
        else "Ulysses is left out: it needs a query head for every rank.",
    )


def ratio_curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    """Return the ratio of a ring step over the number of ranks."""
    job = job_of(inputs)
    inside = [job_of(inputs, ranks).ring.group.nodes == 1 for ranks in _RANKS]
    found = [
        step_ratio(job, ranks, inside=near) for ranks, near in zip(_RANKS, inside, strict=True)
    ]
    near = [step_ratio(job, ranks, inside=True) for ranks in _RANKS]
    every = (*found, *near, 1.0)
    xs = tuple(float(ranks) for ranks in _RANKS)
    point = Point(key="now", label=tell.say("{ratio}"), x=inputs.context_parallel, y=result.ratio)
    return Lines(
        title="A ring step: computing over sending",
        x=Axis(
            label="ranks that share the sequence", quantity=COUNT, low=1, high=MOST, scale="log"
        ),
        y=Axis(
            label="computing over sending",
            quantity=RATIO,
            low=min(every) / 1.5,
            high=1.5 * max(every),
            scale="log",
        ),
        series=(
            Series(key="own", label="your cluster", x=xs, y=tuple(found), color="context"),
            Series(
                key="near", label="all on NVLink", x=xs, y=tuple(near), color="muted", dashed=True
            ),
        ),
        points=(point,) if inputs.context_parallel > 1 else (),
        rules=(Rule(key="one", label="just hidden", axis="y", at=1.0),),
        handle="context_parallel",
        caption=say(
            "Below the line a block travels longer than a step computes. {s} tokens in all.",
            s=(inputs.sequence_length, TOKENS),
        ),
    )


def regime_map(inputs: Inputs) -> Lines:
    """Return up to how many ranks the ring hides, over the length of the sequence."""
    low, high = LENGTHS
    lengths = [low * (high / low) ** (i / (_POINTS - 1)) for i in range(_POINTS)]
    jobs = [job_of(inputs, length=round(length)) for length in lengths]
    curves = {
        near: tuple(hidden_up_to(job, inside=near, most=MOST) for job in jobs)
        for near in (True, False)
    }
    xs = tuple(float(job.training.sequence_length) for job in jobs)
    most = job_of(inputs).rank.domain // int(inputs.tensor_parallel)
    return Lines(
        title="Where overlap ends",
        x=Axis(label="sequence length", quantity=TOKENS, low=low, high=high, scale="log"),
        y=Axis(label="ranks", quantity=COUNT, low=1, high=MOST, scale="log"),
        series=(
            Series(
                key="near", label="hops on NVLink", x=xs, y=curves[True], color="muted", dashed=True
            ),
            Series(key="far", label="hops on the network", x=xs, y=curves[False], color="context"),
        ),
        points=(
            Point(
                key="now",
                label="you",
                x=inputs.sequence_length,
                y=inputs.context_parallel,
            ),
        ),
        rules=(
            Rule(
                key="node",
                label=say("{n} fit on NVLink", n=(most, COUNT)),
                axis="y",
                at=float(most),
                color="muted",
            ),
        )
        if most > 1
        else (),
        handle="sequence_length",
        caption="Below a curve the ring hides; above it blocks are waited for. A ring that leaves "
        "its node follows the curve of the network.",
    )


def exposed_map(inputs: Inputs) -> Heatmap:
    """Return the share of a layer that waits, over length and ranks."""
    return Heatmap(
        title="What a layer waits for, over length and ranks",
        x_label="sequence length",
        y_label="ranks",
        x=tuple(_short(length) for length in _COLUMNS),
        y=tuple(f"{ranks}" for ranks in _ROWS),
        values=tuple(
            tuple(_exposed(inputs, ranks, length) for length in _COLUMNS) for ranks in _ROWS
        ),
        quantity=SHARE,
        points=(_own_cell(inputs),),
        caption="A ring in a zig-zag with two buffers; merging is counted. The frame marks your "
        "length and ranks, between two cells where they are no power of two. K is 1,024 tokens, "
        "M 1,024 K.",
    )


def _own_cell(inputs: Inputs) -> Point:
    ranks, length = int(inputs.context_parallel), inputs.sequence_length
    return Point(
        key="own",
        label=say(
            "framed: you, {share} waited for", share=(_exposed(inputs, ranks, length), SHARE)
        ),
        x=math.log2(length / _COLUMNS[0]),
        y=math.log2(ranks / _ROWS[0]),
        color="ink",
    )


def _short(length: int) -> str:
    return f"{length >> 20}M" if length >> 20 else f"{length >> 10}K"


def _exposed(inputs: Inputs, ranks: int, length: int) -> float:
    job = job_of(inputs, ranks, length)
    waits = sum(map(sum, added(job, "ring")))
    return waits / (waits + layer_without(job))


def buffers(inputs: Inputs, result: Result) -> Bars:
    """Return the memory of the fullest GPU with each way's keys and values."""
    shown = [
        *((f"b{n}", f"ring, {n} buffer{'s' if n > 1 else ''}", n, "ring") for n in (1, 2, 3, 4)),
        ("gather", "all-gather", 0, "gather"),
        ("swap", "Ulysses", 0, "swap"),
    ]
    bars = []
    for key, name, many, way in shown:
        changed = replace(inputs, num_buffers=many or 2)
        blocks = blocks_of(changed, result.job, way)
        size = ring_buffer(result.tokens, result.width, result.element_bytes, blocks)
        others = Segment(key="others", label="keys and values", value=size, color="context")
        bars.append(Bar(key=key, label=name, segments=(*parts_of(result.memory), others)))
    most = max(sum(part.value for part in bar.segments) for bar in bars)
    return Bars(
        title="The fullest GPU, with the keys and values of others",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.25 * max(most, result.usable)),
        bars=tuple(bars),
        rules=(
            Rule(
                key="usable",
                label=say("{b} usable", b=(result.usable, BYTES)),
                axis="x",
                at=result.usable,
                color="bad",
            ),
        ),
        caption="Keys and values of other ranks are held for one layer at a time, so they are a "
        "thin slice beside what all layers keep.",
    )
