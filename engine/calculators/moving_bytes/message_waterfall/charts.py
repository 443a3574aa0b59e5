"""Pictures of one message: stages with their ranges, groups, shares against size, the pipeline."""

from collections.abc import Iterator
from dataclasses import replace

from engine.basis.text import say
from engine.basis.units import BYTES, COUNT, SECONDS, SHARE
from engine.basis.views import (
    Axis,
    Bar,
    Bars,
    Lane,
    Lines,
    Point,
    Rule,
    Segment,
    Series,
    Span,
    Timeline,
)
from engine.form.message.inputs import HIGH, LOW, Inputs, published
from engine.form.message.layers import span_of
from engine.form.message.model import COLORS, GROUPS, NAMES, Way, at, sized, stages, way
from engine.form.message.values import pcie_share
from engine.formulas.message import break_even_size
from engine.simulate.message import passages

COLUMN = tuple(LOW * (HIGH / LOW) ** (i / 45) for i in range(46))
DRAWN = 8  # pieces at most in the picture of the pipeline


def waterfall(inputs: Inputs, one: Way) -> Bars:
    """Return the latency of every stage, with the range that is published for it."""
    ranges = {stage.key: span_of(stage.key, inputs) for stage in one.stages}
    high = max(*(stage.latency for stage in one.stages), *(end for _, end in ranges.values()), 1e-7)
    return Bars(
        title="Latency of every stage, and its published range",
        axis=Axis(label="latency", quantity=SECONDS, low=0.0, high=high * 1.02),
        bars=tuple(
            Bar(
                key=stage.key,
                label=NAMES[stage.key],
                segments=(
                    Segment(
                        key=stage.key,
                        label=NAMES[stage.key],
                        value=stage.latency,
                        color=COLORS[stage.key],
                        links=(f"stage:{stage.key}",),
                    ),
                ),
                links=(f"stage:{stage.key}",),
                low=ranges[stage.key][0],
                high=ranges[stage.key][1],
            )
            for stage in one.stages
        ),
        caption="Bars: yours. Thin lines: from the lowest to the highest published figure.",
    )


def stacked(inputs: Inputs, one: Way) -> Bars:
    """Return what the time is made of, beside the other way past the host, and a published one."""
    other = at(inputs, direct=not inputs.direct)
    theirs = way(replace(published(), message=inputs.message, link=inputs.link))
    rows = (
        ("yours", "Yours", one),
        ("other", "Without GPUDirect" if inputs.direct else "With GPUDirect", other),
        ("published", "A published waterfall, with its bytes", theirs),
    )
    high = max(row.time for _, _, row in rows)
    return Bars(
        title="What the time is made of",
        axis=Axis(label="one way", quantity=SECONDS, low=0.0, high=high * 1.02),
        bars=tuple(
            Bar(key=key, label=label, segments=tuple(_segments(row))) for key, label, row in rows
        ),
    )


def _segments(one: Way) -> Iterator[Segment]:
    for key, (label, color, keys) in GROUPS.items():
        yield Segment(key=key, label=label, value=one.part(keys), color=color)
    yield Segment(key="bytes", label="bytes", value=one.time - one.latency, color="muted")


def shares(inputs: Inputs, one: Way) -> Lines:
    """Return the shares of the time that are latency, against the size of the message."""
    other = replace(published(), link=inputs.link)
    path = stages(other)
    ours = [sized(inputs, one.stages, size) for size in COLUMN]
    theirs = [sized(other, path, size) for size in COLUMN]
    even = break_even_size(one.latency, one.slowest, inputs.message / one.wire)
    rule = Rule(key="even", label=say("{s}", s=(even, BYTES)), axis="x", at=even, color="muted")
    return Lines(
        title="How much of the time is latency",
        x=Axis(label="message", quantity=BYTES, low=LOW, high=HIGH, scale="log"),
        y=Axis(label="share of the time", quantity=SHARE, low=0.0, high=1.02),
        series=(
            Series(
                key="all",
                label="all latencies",
                x=COLUMN,
                y=tuple(row.latency / row.time for row in ours),
                color="compute",
            ),
            Series(
                key="pcie",
                label="PCIe",
                x=COLUMN,
                y=tuple(map(pcie_share, ours)),
                color="accent",
            ),
            Series(
                key="published",
                label="PCIe, published",
                x=COLUMN,
                y=tuple(map(pcie_share, theirs)),
                color="accent",
                dashed=True,
            ),
        ),
        points=(
            Point(
                key="now",
                label=say("{s}", s=(pcie_share(one), SHARE)),
                x=inputs.message,
                y=pcie_share(one),
            ),
        ),
        rules=(rule,) if LOW <= even <= HIGH else (),
        handle="message",
        caption="At the dashed upright line latencies and bytes take equally long.",
    )


def pipeline(inputs: Inputs, one: Way) -> Timeline:
    """Return the message on its way: a lane for every stage, a span for every piece."""
    pieces = min(one.pieces, DRAWN)
    ran = passages(one.stages, one.wire, pieces)
    end = ran[-1].end
    waits = {stage.key: stage.latency for stage in one.stages}
    spans: list[Span] = []
    before: dict[int, str] = {}
    for passage in ran:
        key, name = f"{passage.stage} {passage.piece + 1}", NAMES[passage.stage]
        after = (before[passage.piece],) if passage.piece in before else ()
        latency = waits[passage.stage]
        if latency > 0 and passage.piece == (pieces - 1 if passage.stage == "finish" else 0):
            wait = f"{passage.stage} latency"
            spans.append(
                _span(wait, passage.stage, passage.arrived, passage.arrived + latency, name, after)
            )
            before[passage.piece], after = wait, (wait,)
        if passage.end > passage.start:
            label = f"piece {passage.piece + 1}" if pieces > 1 else "message"
            spans.append(_span(key, passage.stage, passage.start, passage.end, label, after))
            before[passage.piece] = key
    return Timeline(
        title="The message on its way",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=tuple(
            Lane(key=stage.key, label=NAMES[stage.key], links=(f"stage:{stage.key}",))
            for stage in one.stages
        ),
        spans=tuple(spans),
        caption=say(
            "Hatched: latency. In {k} pieces, simulated: {e}. In {n}, as chosen: {t}."
            if one.pieces > pieces
            else "Hatched: latency. Simulated piece by piece, {k} of them: {e}.",
            k=(pieces, COUNT),
            e=(end, SECONDS),
            n=(one.pieces, COUNT),
            t=(one.time, SECONDS),
        ),
        player=True,
    )


def _span(
    key: str, stage: str, start: float, end: float, label: str, after: tuple[str, ...]
) -> Span:
    return Span(
        key=key,
        lane=stage,
        start=start,
        end=end,
        label=label,
        color=COLORS[stage],
        exposed=key.endswith("latency"),
        links=(f"stage:{stage}",),
        after=after,
    )
