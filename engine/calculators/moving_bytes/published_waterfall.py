"""A published waterfall: its own midpoints added up, and what becomes of them with bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.constants import LOAD
from engine.catalog.hardware import LINKS
from engine.core.inputs import GBITS, Number
from engine.core.outputs import Teller, Told, Views
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
from engine.core.views import Cite, Published, Table
from engine.form.message.inputs import HIGH, LARGE, LOW, MESSAGE, PUBLISHED, at, published
from engine.form.message.inputs import PRESETS as WATERFALLS
from engine.form.message.inputs import Inputs as Waterfall
from engine.formulas.message import MESSAGE_TIME
from engine.simulate.network.message_path import SYNC

_FROM = ("day1inference",)
_AS = "{pcie} of {time}: its latencies as they are, and the bytes at the port's line rate."


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

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
        Share, Told("Latency of PCIe", "", "{pcie} of {time}", assumes=(_AS,), sources=_FROM)
    ]
    time: Annotated[
        Seconds,
        Told(
            "One way",
            "T",
            "",
            "communication",
            assumes=("The published latencies, and packets of 4 KiB in a pipeline.",),
            sources=_FROM,
        ),
    ]
    pcie: Seconds
    all_latencies: Annotated[Seconds, Told(symbol="A")]
    passing: Annotated[Seconds, Told(symbol="D")]
    pieces: Annotated[Count, Told(symbol="N")]
    wire: Annotated[Bytes, Told(symbol="S", of="message")]
    slowest: Annotated[Bandwidth, Told(symbol="B", of="link")]
    latency: Annotated[
        Seconds,
        Told(
            "Its eight stages",
            "",
            "no byte",
            assumes=("Middles of the eight ranges that the page gives, added.",),
            sources=_FROM,
        ),
    ]
    bare_share: Annotated[
        Share,
        Told(
            "PCIe, without a byte",
            "",
            "what the page prints",
            assumes=("Two of its eight stages, over their sum.",),
            sources=_FROM,
        ),
    ]
    large_share: Annotated[
        Share,
        Told(
            "PCIe, with 64 MiB",
            "",
            "{pcie} of {large_time}",
            assumes=(_AS.replace("{time}", "{large_time}"),),
            sources=_FROM,
        ),
    ]
    large_time: Seconds
    large: Bytes = LARGE
    large_theirs: Share
    ours: Mapping[tuple[str, Bytes], Seconds]
    large_wire: Annotated[
        Seconds,
        Told("The wire, 64 MiB", "", "", "communication", assumes=("{large} at {link}.",)),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the published stages with messages of three sizes."""
    bare = at(published())
    one = at(published(message=inputs.message, link=inputs.link))
    large = at(published(message=LARGE, link=inputs.link))
    return Result(
        share=one.pcie_share,
        time=one.time,
        pcie=one.pcie,
        all_latencies=one.latency,
        passing=one.passing,
        pieces=one.pieces,
        wire=one.wire,
        slowest=one.slowest,
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
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "share": tell.value("share", published=_CLAIM),
        **tell.values("time", "latency"),
        "bare_share": tell.value("bare_share", published=_CLAIM),
        "large_share": tell.value("large_share", published=_CLAIM),
        "large_wire": tell.value("large_wire"),
        "claims": partial(_claims, result),
    }


def _claims(result: Result) -> Table:
    """Return four published statements beside what they leave out."""
    ours = result.ours
    rows = (
        (
            "PCIe dominates total latency (40-50%)",
            say("{s}", s=(result.bare_share, SHARE)),
            say("{s} of 64 MiB", s=(result.large_theirs, SHARE)),
            "midpoints of guessed ranges, and no bytes",
            Cite(("day1inference",)),
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
            Cite(("day1inference",)),
        ),
        (
            "HBM read",
            say("{t}", t=(PUBLISHED["read"], SECONDS)),
            say("{t}", t=(LOAD, SECONDS)),
            "690 cycles measured on a GH200, at 1.98 GHz",
            Cite(("dewing",)),
        ),
        (
            "NVLink: under a microsecond, 900 GB/s",
            "< 1 µs, 900 GB/s",
            say(
                "{a} to {b} a hop, {r} one way",
                a=(SYNC["ll"], SECONDS),
                b=(SYNC["simple"], SECONDS),
                r=(LINKS["nvlink4"].bandwidth, BANDWIDTH),
            ),
            "900 counts both directions; a hop of NCCL is more than its wire",
            Cite(("hu2025", "nvidia_h100")),
        ),
    )
    return Table(
        title="Four published statements",
        columns=("Statement", "Published", "Right", "Why", "From"),
        rows=rows,
    )
