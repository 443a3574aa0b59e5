"""Maps of the lab: limit of overlap over length and ranks, with the configured point."""

import math

from engine.calculators.splitting_the_model.context_lab.beside import COLUMNS, ROWS
from engine.calculators.splitting_the_model.context_lab.inputs import (
    LENGTHS,
    MOST,
    Inputs,
)
from engine.calculators.splitting_the_model.context_lab.result import Result
from engine.core.text import say
from engine.core.units import COUNT, SHARE, TOKENS
from engine.core.views import Axis, Heatmap, Lines, Point, Rule, Series


def regime_map(inputs: Inputs, result: Result) -> Lines:
    """Return up to how many ranks the ring hides, over the length of the sequence."""
    low, high = LENGTHS
    hidden = result.hidden()
    xs = hidden.lengths
    most = result.job.rank.domain // int(inputs.tensor_parallel)
    return Lines(
        title="Where overlap ends",
        x=Axis(label="sequence length", quantity=TOKENS, low=low, high=high, scale="log"),
        y=Axis(label="ranks", quantity=COUNT, low=1, high=MOST, scale="log"),
        series=(
            Series(key="near", label="on NVLink", x=xs, y=hidden.near, color="muted", dashed=True),
            Series(key="far", label="on the network", x=xs, y=hidden.far, color="context"),
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


def exposed_map(inputs: Inputs, result: Result) -> Heatmap:
    """Return the share of a layer that waits, over length and ranks."""
    return Heatmap(
        title="What a layer waits for, over length and ranks",
        x_label="sequence length",
        y_label="ranks",
        x=tuple(_short(length) for length in COLUMNS),
        y=tuple(f"{ranks}" for ranks in ROWS),
        values=result.exposed_map(),
        quantity=SHARE,
        points=(_own_cell(inputs, result),),
        caption="A ring in a zig-zag with two buffers; merging is counted. The frame marks your "
        "length and ranks, between two cells where they are no power of two. K is 1,024 tokens, "
        "M 1,024 K.",
    )


def _own_cell(inputs: Inputs, result: Result) -> Point:
    ranks, length = int(inputs.context_parallel), inputs.sequence_length
    return Point(
        key="own",
        label=say("framed: you, {share} waited for", share=(result.exposed, SHARE)),
        x=math.log2(length / COLUMNS[0]),
        y=math.log2(ranks / ROWS[0]),
        color="ink",
    )


def _short(length: int) -> str:
    return f"{length >> 20}M" if length >> 20 else f"{length >> 10}K"
