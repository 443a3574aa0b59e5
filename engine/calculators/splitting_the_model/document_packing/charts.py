"""The charts of packed documents: their lengths, the work of the GPUs, cuts and packings."""

import math

from engine.calculators.splitting_the_model.document_packing.inputs import (
    CUTS,
    MEANS,
    PACKINGS,
    Inputs,
)
from engine.calculators.splitting_the_model.document_packing.result import Result
from engine.core.outputs import Teller
from engine.core.text import say
from engine.core.units import COUNT, RATIO, SECONDS, SHARE, TOKENS
from engine.core.views import Axis, Badge, Bar, Bars, Lines, Point, Rule, Segment, Series

_BINS = 16
# So much more than the mean goes unnoticed.
_EVEN = 1.05


def lengths(inputs: Inputs, result: Result) -> Lines:
    """Return the share of tokens that lie in documents of each length."""
    low, high = MEANS
    edges = [low * (high / low) ** (i / _BINS) for i in range(_BINS + 1)]
    tokens = [0] * _BINS
    for sequence in result.packed:
        for length in sequence:
            place = math.log(max(length, low) / low) / math.log(high / low)
            tokens[min(_BINS - 1, int(place * _BINS))] += length
    total = sum(tokens)
    xs, ys = [], []
    for index, count in enumerate(tokens):
        xs += [edges[index], edges[index + 1]]
        ys += [count / total] * 2
    return Lines(
        title="Tokens by the length of their document",
        x=Axis(label="length of a document", quantity=TOKENS, low=low, high=high, scale="log"),
        y=Axis(label="share of all tokens", quantity=SHARE, low=0.0, high=1.1 * max(ys)),
        series=(
            Series(key="tokens", label="tokens", x=tuple(xs), y=tuple(ys), color="activations"),
        ),
        rules=(
            Rule(
                key="mean",
                label=say("mean {n}", n=(inputs.mean_length, TOKENS)),
                axis="x",
                at=float(inputs.mean_length),
                color="accent",
            ),
        ),
        points=(Point(key="now", label="", x=inputs.mean_length, y=0.0),),
        handle="mean_length",
        caption=say(
            "Drag the mean. {n} documents in {r} sequences of 131,072 tokens; what does not fit is "
            "cut at the end of a sequence.",
            n=(sum(map(len, result.packed)), COUNT),
            r=(len(result.packed), COUNT),
        ),
    )


def work(result: Result) -> Bars:
    """Return the work of each GPU of the slowest sequence, over the mean of all GPUs."""
    own = result.work[result.slowest]
    return Bars(
        title="The GPUs of the slowest sequence",
        axis=Axis(
            label="pairs, over the mean of all GPUs",
            quantity=RATIO,
            low=0.0,
            high=1.1 * max(1.0, *own),
        ),
        bars=tuple(
            Bar(
                key=f"r{rank}",
                label=f"GPU {rank}",
                segments=(Segment(key="work", label="attention", value=one, color="compute"),),
            )
            for rank, one in enumerate(own)
        ),
        rules=(Rule(key="mean", label="mean of all", axis="x", at=1.0),),
        caption=say(
            "Sequence {n} of {m}, with {d} documents.",
            n=(result.slowest + 1, COUNT),
            m=(len(result.packed), COUNT),
            d=(len(result.packed[result.slowest]), COUNT),
        ),
    )


# As short as a row of a narrow chart.
_PACKED = {"arrival": "", "balanced": ", by work"}


def cuts(inputs: Inputs, result: Result) -> Bars:
    """Return the layer's time by cut and packing."""
    bars = []
    for packing in PACKINGS:
        for cut, name in CUTS.items():
            time = result.by_cut()[cut, packing]
            now = (cut, packing) == (inputs.cut, inputs.packing)
            parts = (
                ("even", "even share", result.even, "compute"),
                ("more", "more than that", time - result.even, "idle"),
            )
            bars.append(
                Bar(
                    key=f"{packing}.{cut}",
                    label=f"{name}{_PACKED[packing]}" + (" (now)" if now else ""),
                    segments=tuple(
                        Segment(key=k, label=t, value=v, color=c) for k, t, v, c in parts
                    ),
                )
            )
    most = max(sum(part.value for part in bar.segments) for bar in bars)
    return Bars(
        title="One layer of the slowest GPU, by cut and packing",
        axis=Axis(label="forward and backward", quantity=SECONDS, low=0.0, high=1.05 * most),
        bars=tuple(bars),
        caption="The same documents throughout, packed as they arrive or by their work.",
    )


def regime(tell: Teller, result: Result) -> Badge:
    """Return whether the cut or the packing is the cause."""
    if result.busiest < _EVEN:
        return Badge(
            text="Even",
            sentence=tell.say("The busiest GPU has {busiest} the mean."),
            color="compute",
        )
    if result.within > result.between:
        return Badge(
            text="The cut is uneven",
            sentence=tell.say(
                "Within the slowest sequence the busiest GPU has {within} the mean of its own."
            ),
            color="bad",
        )
    words = "The slowest sequence has {between} the pairs of the mean one; "
    words += "no cut within it helps." if result.within < 1.05 else "its cut adds {within}."
    return Badge(
        text="The sequences are uneven",
        sentence=tell.say(words),
        color="bad",
    )
