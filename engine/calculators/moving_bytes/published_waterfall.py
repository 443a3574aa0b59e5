"""A published waterfall: its midpoints summed, and the same path with bytes to move."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.constants import LOAD
from engine.catalog.hardware import LINKS
from engine.catalog.message_stages import PUBLISHED, SYNC_LATENCY
from engine.core.inputs import GBITS, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import (
    BANDWIDTH,
    KB,
    SECONDS,
    SHARE,
    Bandwidth,
    Bytes,
    Count,
    Gbit,
    Seconds,
    Share,
)
from engine.core.views import Citation, Published, Table
from engine.form.message import HIGH, LARGE, LOW, MESSAGE, at, published
from engine.form.message import PRESETS as WATERFALLS
from engine.form.message import Inputs as Waterfall
from engine.formulas.message import MESSAGE_TIME

_PUBLISHED_SOURCES = ("day1inference",)
_SHARE_NOTE = "{pcie} of {time}: its latencies as they are, and the bytes at the port's line rate."


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    message: Annotated[
        float,
        Number(label="Message", unit=MESSAGE, low=LOW, high=HIGH, scale="log", symbol="M"),
    ] = 1 * KB
    link: Annotated[
        float,
        Number(
            label="Network port",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="Line rate, one way.",
        ),
    ] = 400 * Gbit


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Its stages without a byte, with the reader's message, and with 64 MiB.

    `large_theirs` is the share of PCIe at its own port; `ours` the time of this site's stages, over
    two networks and of two messages.
    """

    share: Annotated[
        Share,
        Output(
            "Latency of PCIe",
            "",
            "{pcie} of {time}",
            assumes=(_SHARE_NOTE,),
            sources=_PUBLISHED_SOURCES,
        ),
    ]
    time: Annotated[
        Seconds,
        Output(
            "One way",
            "T",
            "",
            "communication",
            assumes=("The published latencies, and packets of 4 KiB in a pipeline.",),
            sources=_PUBLISHED_SOURCES,
        ),
    ]
    pcie: Seconds
    all_latencies: Annotated[Seconds, Output(symbol="A")]
    passing: Annotated[Seconds, Output(symbol="D")]
    pieces: Annotated[Count, Output(symbol="N")]
    wire: Annotated[Bytes, Output(symbol="S", of="message")]
    slowest: Annotated[Bandwidth, Output(symbol="B", of="link")]
    latency: Annotated[
        Seconds,
        Output(
            "Its eight stages",
            "",
            "no byte",
            assumes=("Middles of the eight ranges that the page gives, added.",),
            sources=_PUBLISHED_SOURCES,
        ),
    ]
    bare_share: Annotated[
        Share,
        Output(
            "PCIe, without a byte",
            "",
            "what the page prints",
            assumes=("Two of its eight stages, over their sum.",),
            sources=_PUBLISHED_SOURCES,
        ),
    ]
    large_share: Annotated[
        Share,
        Output(
            "PCIe, with 64 MiB",
            "",
            "{pcie} of {large_time}",
            assumes=(_SHARE_NOTE.replace("{time}", "{large_time}"),),
            sources=_PUBLISHED_SOURCES,
        ),
    ]
    large_time: Seconds
    large: Bytes = LARGE
    large_theirs: Share
    ours: Mapping[tuple[str, Bytes], Seconds]
    large_wire: Annotated[
        Seconds,
        Output("The wire, 64 MiB", "", "", "communication", assumes=("{large} at {link}.",)),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the published stages with messages of three sizes."""
    bare = at(published())
    timing = at(published(message=inputs.message, link=inputs.link))
    large = at(published(message=LARGE, link=inputs.link))
    return Result(
        share=timing.pcie_share,
        time=timing.time,
        pcie=timing.pcie,
        all_latencies=timing.latency,
        passing=timing.passing,
        pieces=timing.pieces,
        wire=timing.wire,
        slowest=timing.slowest,
        latency=bare.latency,
        bare_share=bare.bare_pcie_share,
        large_share=large.pcie_share,
        large_time=large.time,
        large_theirs=at(published(message=LARGE)).pcie_share,
        ours={
            (network, size): at(Waterfall(), **{**changes, "message": size}).time
            for network, changes in (("ib", {}), ("efa", WATERFALLS["EFA v2, four cards per GPU"]))
            for size in (LARGE, KB)
        },
        large_wire=LARGE / inputs.link,
    )


TITLE = "A published waterfall"
QUESTION = "What becomes of 46 percent when the message has bytes?"
HEADLINE = "share"
EQUATIONS = (MESSAGE_TIME,)
PRESETS = {"64 MiB": {"message": LARGE}, "64 MiB, 1,600 Gb/s": {"message": LARGE, "link": 2e11}}
_CLAIM = Published(
    text="PCIe traversal dominates total latency (40-50%)",
    reason="True of its own midpoints, and only for a message without bytes.",
    source="day1inference",
    claim="E0.1",
)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "share": present.value("share", published=_CLAIM),
        **present.values("time", "latency"),
        "bare_share": present.value("bare_share", published=_CLAIM),
        "large_share": present.value("large_share", published=_CLAIM),
        "large_wire": present.value("large_wire"),
        "claims": partial(_claim_table, result),
    }


def _claim_table(result: Result) -> Table:
    """Return the table of four published statements and their omissions."""
    ours = result.ours
    rows = (
        (
            "PCIe dominates total latency (40-50%)",
            say("{s}", s=(result.bare_share, SHARE)),
            say("{s} of 64 MiB", s=(result.large_theirs, SHARE)),
            "midpoints of guessed ranges, and no bytes",
            Citation(("day1inference",)),
        ),
        (
            "InfiniBand or EFA matters less, because PCIe decides",
            say("the same {s}", s=(result.bare_share, SHARE)),
            say(
                "64 MiB: {a} or {b}; 1 kB: {c} or {d}",
                a=(ours["ib", LARGE], SECONDS),
                b=(ours["efa", LARGE], SECONDS),
                c=(ours["ib", KB], SECONDS),
                d=(ours["efa", KB], SECONDS),
            ),
            "four cards of 100 Gb/s to a GPU carry as much; EFA's hops and tails are longer",
            Citation(("day1inference",)),
        ),
        (
            "HBM read",
            say("{t}", t=(PUBLISHED["read"], SECONDS)),
            say("{t}", t=(LOAD, SECONDS)),
            "690 cycles measured on a GH200, at 1.98 GHz",
            Citation(("dewing",)),
        ),
        (
            "NVLink: under a microsecond, 900 GB/s",
            "< 1 µs, 900 GB/s",
            say(
                "{a} to {b} a hop, {r} one way",
                a=(SYNC_LATENCY["ll"], SECONDS),
                b=(SYNC_LATENCY["simple"], SECONDS),
                r=(LINKS["nvlink4"].bandwidth, BANDWIDTH),
            ),
            "900 counts both directions; a hop of NCCL is more than its wire",
            Citation(("hu2025", "nvidia_h100")),
        ),
    )
    return Table(
        title="Four published statements",
        columns=("Statement", "Published", "Right", "Why", "From"),
        rows=rows,
    )
