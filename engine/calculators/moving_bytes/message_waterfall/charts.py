"""Charts of a message: stages with their ranges, groups, latency shares and the pipeline."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.calculators.moving_bytes.message_waterfall.result import COLUMN, DRAWN, Result
from engine.catalog.constants import LOAD_HIGH, LOAD_LOW
from engine.catalog.message_stages import SYNC_LATENCY
from engine.core.outputs import Presenter
from engine.core.text import Text, say
from engine.core.units import COUNT, MICRO, SECONDS, Seconds
from engine.core.views import (
    Bar,
    Bars,
    Citation,
    Lane,
    Line,
    Lines,
    Rule,
    Scale,
    Segment,
    Span,
    Table,
    Timeline,
)
from engine.form.message import HIGH, LOW, Inputs
from engine.simulate.network.message_path import PCIE_STAGES, MessageTiming


def waterfall(present: Presenter, inputs: Inputs, timing: MessageTiming) -> Bars:
    """Return the latency of every stage, with the range that is published for it."""
    ranges = {stage.key: published_range(stage.key, inputs) for stage in timing.stages}
    high = max(
        *(stage.latency for stage in timing.stages), *(end for _, end in ranges.values()), 1e-7
    )
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
            for stage in timing.stages
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


def _segments(timing: MessageTiming) -> Iterator[Segment]:
    for key, (label, color, keys) in GROUPS.items():
        yield Segment(key=key, label=label, value=timing.part(keys), color=color)
    yield Segment(key="bytes", label="bytes", value=timing.moving, color="muted")


def latency_shares(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the shares of the time that are latency, against the size of the message."""
    ours, theirs = result.by_size()
    even, now = result.break_even, result.pcie_share
    rule = Rule(key="even", label=present.say("{break_even}"), axis="x", at=even, color="muted")
    columns = (
        ("all", "all latencies", "compute", tuple(timing.latency / timing.time for timing in ours)),
        ("pcie", "PCIe", "accent", tuple(timing.pcie_share for timing in ours)),
        ("published", "PCIe, published", "accent", tuple(timing.pcie_share for timing in theirs)),
    )
    return present.curve(
        "How much of the time is latency",
        over=Scale("break_even", "message", LOW, HIGH, log=True),
        shows=Scale("pcie_share", "share of the time", 0.0, 1.02),
        x=COLUMN,
        lines=(
            Line(key, label, y, color, dashed=key == "published")
            for key, label, color, y in columns
        ),
        handle="message",
        at=now,
        now="{pcie_share}",
        rules=(rule,) if LOW <= even <= HIGH else (),
        caption="At the dashed vertical line, latencies and bytes take equally long.",
    )


def pipeline_timeline(present: Presenter, result: Result) -> Timeline:
    """Return the message on its way: a lane for every stage, a span for every piece."""
    timing, ran = result.one, result.passages()
    pieces, end = min(timing.pieces, DRAWN), ran[-1].end
    waits = {stage.key: stage.latency for stage in timing.stages}
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
            for stage in timing.stages
        ),
        spans=tuple(spans),
        caption=say(
            "Hatched: latency. In {k} pieces, simulated: {e}. In {n}, as chosen: {t}."
            if timing.pieces > pieces
            else "Hatched: latency. Simulated piece by piece, {k} of them: {e}.",
            k=(pieces, COUNT),
            e=(end, SECONDS),
            n=(timing.pieces, COUNT),
            t=(timing.time, SECONDS),
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


# Names of the stages of a message, and the groups that share a color.

NAMES: Mapping[str, str] = {
    "launch": "Kernel launch",
    "copy_out": "Host copy out",
    "post": "Doorbell",
    "read": "HBM read",
    "pcie_out": "PCIe to card",
    "transmit": "Card sends",
    "fabric": "Switches",
    "receive": "Card receives",
    "pcie_in": "PCIe to GPU",
    "write": "HBM write",
    "copy_in": "Host copy in",
    "finish": "Flag",
}
GROUPS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "software": ("software", "compute", ("launch", "post", "finish")),
    "memory": ("HBM", "memory", ("read", "write")),
    "pcie": ("PCIe", "accent", PCIE_STAGES),
    "copies": ("host copies", "buffers", ("copy_out", "copy_in")),
    "network": ("cards and switches", "communication", ("transmit", "fabric", "receive")),
}
COLORS: Mapping[str, str] = {key: color for _, color, keys in GROUPS.values() for key in keys}


# Table of the stages: meaning, tool to measure, and published range.


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A stage as the table tells it.

    Attributes:
        meaning: description of the stage.
        tool: that shows its latency.
        low, high: published latencies.
        basis: "measured" or "assumed".
        sources: keys of the bibliography.
    """

    meaning: str
    tool: str
    low: Seconds
    high: Seconds
    basis: str
    sources: tuple[str, ...]


def _layer(meaning: str, tool: str, low: float, high: float, basis: str, sources: str) -> Layer:
    """Return a layer; the range is given in microseconds."""
    return Layer(
        meaning=meaning,
        tool=tool,
        low=low * MICRO,
        high=high * MICRO,
        basis=basis,
        sources=tuple(sources.split()),
    )


_COPY = _layer(
    "the copy engine moves the data over PCIe",
    "Nsight Systems, row of copies; NCCL_DEBUG=INFO without GDRDMA",
    6,
    12,
    "measured (6), claimed (12)",
    "rocm3809 pingdo_gpudirect",
)
LAYERS: Mapping[str, Layer] = {
    "launch": _layer(
        "the host puts the collective's kernel into a stream",
        "Nsight Systems: from the call to the kernel's start",
        3,
        5,
        "assumed",
        "day1inference",
    ),
    "copy_out": _COPY,
    "post": _layer(
        "a work request is written, a doorbell rung",
        "ib_write_lat between host memories, all of the path",
        0.1,
        1,
        "assumed",
        "kentino",
    ),
    "read": _layer(
        "the first line of the data comes out of memory",
        "a chase of pointers on the GPU",
        LOAD_LOW / MICRO,
        LOAD_HIGH / MICRO,
        "measured in cycles",
        "dewing",
    ),
    "pcie_out": _layer(
        "the card asks for the data and waits for them",
        "p2pmark --latency (GPU to GPU); ib_read_lat --use_cuda",
        0.5,
        6.14,
        "measured (4.1 to 6.14), lower end assumed",
        "p2pmark day1inference neugebauer2018",
    ),
    "transmit": _layer(
        "packets are built and put on the cable",
        "ib_write_lat over one cable, no switch",
        0.3,
        2,
        "assumed",
        "kentino day1inference",
    ),
    "fabric": _layer(
        "every switch looks at the header and passes on",
        "ib_write_lat with one and with three switches",
        0.1,
        0.6,
        "assumed",
        "kentino",
    ),
    "receive": _layer(
        "packets are checked, the address translated",
        "as for sending",
        0.3,
        2,
        "assumed",
        "kentino day1inference",
    ),
    "pcie_in": _layer(
        "the card writes; nobody answers a write",
        "ib_send_lat with and without --use_cuda",
        0.3,
        5,
        "assumed",
        "day1inference neugebauer2018",
    ),
    "write": _layer(
        "the data are where another reader sees them",
        "not alone; only as a part of the whole",
        0.12,
        LOAD_HIGH / MICRO,
        "assumed",
        "day1inference dewing",
    ),
    "copy_in": _COPY,
    "finish": _layer(
        "the receiver polls a flag, or fences and counts",
        "all_reduce_perf -b 8 -e 8, column time",
        0.1,
        1,
        "assumed; protocols published",
        "kentino hu2025",
    ),
}


def published_range(key: str, inputs: Inputs) -> tuple[Seconds, Seconds]:
    """Return the published range of a stage; that of the fabric counts the reader's switches."""
    layer = LAYERS[key]
    if key == "fabric":
        return layer.low * inputs.hops, layer.high * inputs.hops
    sync = SYNC_LATENCY[inputs.protocol] if key == "finish" else 0.0
    return layer.low + sync, layer.high + sync


def layer_table(inputs: Inputs, timing: MessageTiming) -> Table:
    """Return a row for every stage on the reader's path."""
    rows = []
    for stage in timing.stages:
        layer = LAYERS[stage.key]
        low, high = published_range(stage.key, inputs)
        span: Text = say(f"{{a}} to {{b}}; {layer.basis}", a=(low, SECONDS), b=(high, SECONDS))
        rows.append(
            (
                NAMES[stage.key],
                say("{t}", t=(stage.latency, SECONDS)),
                span,
                layer.meaning,
                layer.tool,
                Citation(layer.sources),
            )
        )
    return Table(
        title="Stage by stage",
        columns=(
            "Stage",
            "Yours",
            "Published",
            "What happens",
            "How to measure it",
            "From",
        ),
        rows=tuple(rows),
        caption="Choose a row: the same stage lights up in the bars and on the timeline.",
        links=tuple((f"stage:{stage.key}",) for stage in timing.stages),
    )
