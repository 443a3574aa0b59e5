"""A published waterfall: what the reader can change, and its stages with bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import GBITS, Number
from engine.core.outputs import Told
from engine.core.units import KB, Bandwidth, Bytes, Count, Gbit, Seconds, Share
from engine.form.message.inputs import HIGH, LARGE, LOW, MESSAGE, at, published
from engine.form.message.inputs import PRESETS as WATERFALLS
from engine.form.message.inputs import Inputs as Waterfall

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
