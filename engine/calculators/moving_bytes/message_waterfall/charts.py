"""Charts of a message: stages with their ranges, groups, latency shares and the pipeline."""

from collections.abc import Iterator

from engine.calculators.moving_bytes.message_waterfall.layers import published_range
from engine.calculators.moving_bytes.message_waterfall.names import COLORS, GROUPS, NAMES
from engine.calculators.moving_bytes.message_waterfall.result import COLUMN, DRAWN, Result
from engine.core.outputs import Presenter
from engine.core.text import say
from engine.core.units import COUNT, SECONDS
from engine.core.views import Bar, Bars, Lane, Lines, Point, Rule, Segment, Series, Span, Timeline
from engine.form.message.inputs import HIGH, LOW, Inputs
from engine.simulate.network.message_path import MessageTiming


def waterfall(present: Presenter, inputs: Inputs, way: MessageTiming) -> Bars:
    """Return the latency of every stage, with the range that is published for it."""
    ranges = {stage.key: published_range(stage.key, inputs) for stage in way.stages}
    high = max(*(stage.latency for stage in way.stages), *(end for _, end in ranges.values()), 1e-7)
    return Bars(
        title="Latency of every stage, and its published range",
        axis=present.axis("latency", "latency", low=0.0, high=high * 1.02),
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
            for stage in way.stages
        ),
        caption="Bars: yours. Thin lines: from the lowest to the highest published figure.",
    )


def time_bars(present: Presenter, inputs: Inputs, result: Result) -> Bars:
    """Return the time by group of stages, with and without host copies, beside a published path."""
    rows = (
        ("yours", "Yours", result.one),
        ("other", "Without GPUDirect" if inputs.direct else "With GPUDirect", result.other),
        ("published", "A published waterfall, with its bytes", result.theirs),
    )
    high = max(row.time for _, _, row in rows)
    return Bars(
        title="What the time is made of",
        axis=present.axis("one_way", "one way", low=0.0, high=high * 1.02),
        bars=tuple(
            Bar(key=key, label=label, segments=tuple(_segments(row))) for key, label, row in rows
        ),
    )


def _segments(way: MessageTiming) -> Iterator[Segment]:
    for key, (label, color, keys) in GROUPS.items():
        yield Segment(key=key, label=label, value=way.part(keys), color=color)
    yield Segment(key="bytes", label="bytes", value=way.moving, color="muted")


def latency_shares(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the shares of the time that are latency, against the size of the message."""
    ours, theirs = result.by_size()
    even, now = result.break_even, result.pcie_share
    rule = Rule(key="even", label=present.say("{break_even}"), axis="x", at=even, color="muted")
    columns = (
        ("all", "all latencies", "compute", tuple(way.latency / way.time for way in ours)),
        ("pcie", "PCIe", "accent", tuple(way.pcie_share for way in ours)),
        ("published", "PCIe, published", "accent", tuple(way.pcie_share for way in theirs)),
    )
    return Lines(
        title="How much of the time is latency",
        x=present.axis("break_even", "message", low=LOW, high=HIGH, scale="log"),
        y=present.axis("pcie_share", "share of the time", low=0.0, high=1.02),
        series=tuple(
            Series(key=key, label=label, x=COLUMN, y=y, color=color, dashed=key == "published")
            for key, label, color, y in columns
        ),
        points=(Point(key="now", label=present.say("{pcie_share}"), x=inputs.message, y=now),),
        rules=(rule,) if LOW <= even <= HIGH else (),
        handle="message",
        caption="At the dashed vertical line, latencies and bytes take equally long.",
    )


def pipeline_timeline(present: Presenter, result: Result) -> Timeline:
    """Return the message on its way: a lane for every stage, a span for every piece."""
    way, ran = result.one, result.passages()
    pieces, end = min(way.pieces, DRAWN), ran[-1].end
    waits = {stage.key: stage.latency for stage in way.stages}
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
        axis=present.axis("one_way", "time", low=0.0, high=end * 1.02),
        lanes=tuple(
            Lane(key=stage.key, label=NAMES[stage.key], links=(f"stage:{stage.key}",))
            for stage in way.stages
        ),
        spans=tuple(spans),
        caption=say(
            "Hatched: latency. In {k} pieces, simulated: {e}. In {n}, as chosen: {t}."
            if way.pieces > pieces
            else "Hatched: latency. Simulated piece by piece, {k} of them: {e}.",
            k=(pieces, COUNT),
            e=(end, SECONDS),
            n=(way.pieces, COUNT),
            t=(way.time, SECONDS),
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
