"""What the reader can change about the pieces, and the tail that they leave."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import GBYTES_PER_SECOND, MEGABYTES, MICROSECONDS, MILLISECONDS, Number
from engine.core.outputs import Symbol, Told
from engine.core.units import COUNT, GB, MB, MICRO, Count, Seconds, Share
from engine.formulas.bucket_tail import (
    exposed_tail,
    most_pieces,
    published_overlap,
)
from engine.formulas.communication import ring_all_reduce_time
from engine.formulas.overlap import hidden_share

PUBLISHED = 16
MOST = 100_000
COLUMN = tuple(sorted({round(10 ** (i / 16)) for i in range(81)}))
_EQUAL = "Equal pieces, ready at even intervals; the wire carries one at a time."


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change: at first the example of a published page."""

    pieces: Annotated[
        int,
        Number(label="Pieces", low=1, high=MOST, scale="log", whole=True),
        Symbol("N"),
    ] = PUBLISHED
    latency: Annotated[
        float,
        Number(
            label="Latency of a piece", unit=MICROSECONDS, low=0.1 * MICRO, high=1e-3, scale="log"
        ),
        Symbol("a"),
    ] = 5 * MICRO
    backward: Annotated[
        float,
        Number(label="Backward pass", unit=MILLISECONDS, low=1e-3, high=10.0, scale="log"),
        Symbol("Tb"),
    ] = 170e-3
    size: Annotated[
        float, Number(label="Gradient", unit=MEGABYTES, low=1 * MB, high=1e12, scale="log")
    ] = 500 * MB
    ranks: Annotated[
        int, Number(label="GPUs", low=2, high=1024, scale="log2", whole=True, advanced=True)
    ] = 8
    bandwidth: Annotated[
        float,
        Number(
            label="Ring's bandwidth",
            unit=GBYTES_PER_SECOND,
            low=1 * GB,
            high=2000 * GB,
            scale="log",
            advanced=True,
        ),
    ] = 300 * GB


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What is exposed, at the reader's number of pieces and at all others."""

    exposed: Annotated[
        Seconds,
        Told(
            "Exposed tail",
            "Te",
            "of {whole} for the whole gradient",
            "communication",
            assumes=(_EQUAL,),
        ),
    ]
    hidden: Annotated[
        Share,
        Told(
            "Hidden",
            "",
            "of the communication runs beside computation",
            "compute",
            assumes=("One minus exposed over communication, latencies included.", _EQUAL),
            sources=("hta",),
        ),
    ]
    published_overlap: Annotated[
        Share,
        Told(
            "A published overlap efficiency",
            "",
            "communication over the backward pass: it says nothing about overlap",
            assumes=("Computed by the formula of the published page.",),
            sources=("pingdo_pipeline",),
        ),
    ]
    most: Annotated[
        float,
        COUNT,
        Told(
            "More pieces help up to",
            "N",
            "where latencies fill the backward pass",
            assumes=("Beside a backward pass that nothing slows down.", _EQUAL),
        ),
    ]
    half: Annotated[
        Count,
        Told(
            "Little left to gain from",
            "",
            "pieces: transfer and latency of the last one are equally long",
            assumes=("T over alpha. Beyond it the tail is at most twice one latency.",),
        ),
    ]
    whole: Annotated[
        Seconds,
        Told(
            "Whole gradient",
            "Tm",
            "one all-reduce by a ring, without latency",
            "communication",
            sources=("patarasuk2009",),
        ),
    ]
    compared: Annotated[
        Seconds,
        Told(
            "Exposed with 16 pieces",
            "",
            "the published optimum",
            "communication",
            assumes=(_EQUAL,),
        ),
    ]
    curve: tuple[Seconds, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    whole = ring_all_reduce_time(inputs.size, inputs.ranks, inputs.bandwidth)
    given = whole, inputs.backward
    exposed = exposed_tail(*given, inputs.pieces, inputs.latency)
    everything = whole + inputs.pieces * inputs.latency
    return Result(
        exposed=exposed,
        hidden=max(0.0, hidden_share(everything, exposed)),
        published_overlap=published_overlap(*given),
        most=most_pieces(*given, inputs.latency),
        half=round(max(1.0, whole / inputs.latency)),
        whole=whole,
        compared=exposed_tail(*given, PUBLISHED, inputs.latency),
        curve=tuple(exposed_tail(*given, count, inputs.latency) for count in COLUMN),
    )
