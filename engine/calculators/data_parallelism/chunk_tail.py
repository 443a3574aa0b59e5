"""The exposed tail: reduction of a gradient in N pieces, overlapped with the backward pass."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import GBYTES_PER_SECOND, MEGABYTES, MICROSECONDS, MILLISECONDS, Number
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.units import COUNT, GB, MB, MICRO, Count, Seconds, Share
from engine.core.views import Badge, Line, Lines, Point, Published, Rule, Scale
from engine.formulas.bucket_tail import (
    EXPOSED_TAIL,
    MOST_PIECES,
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
    """The calculator's inputs; the defaults are the example of a published page."""

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
    """The exposed time at the chosen number of pieces and at all others."""

    exposed: Annotated[
        Seconds,
        Output(
            "Exposed tail",
            "Te",
            "of {whole} for the whole gradient",
            "communication",
            assumes=(_EQUAL,),
        ),
    ]
    hidden: Annotated[
        Share,
        Output(
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
        Output(
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
        Output(
            "More pieces help up to",
            "N",
            "where latencies fill the backward pass",
            assumes=("Beside a backward pass that nothing slows down.", _EQUAL),
        ),
    ]
    half: Annotated[
        Count,
        Output(
            "Little left to gain from",
            "",
            "pieces: transfer and latency of the last one are equally long",
            assumes=("T over alpha. Beyond it the tail is at most twice one latency.",),
        ),
    ]
    whole: Annotated[
        Seconds,
        Output(
            "Whole gradient",
            "Tm",
            "one all-reduce by a ring, without latency",
            "communication",
            sources=("patarasuk2009",),
        ),
    ]
    compared: Annotated[
        Seconds,
        Output(
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
    times = whole, inputs.backward
    exposed = exposed_tail(*times, inputs.pieces, inputs.latency)
    everything = whole + inputs.pieces * inputs.latency
    return Result(
        exposed=exposed,
        hidden=max(0.0, hidden_share(everything, exposed)),
        published_overlap=published_overlap(*times),
        most=most_pieces(*times, inputs.latency),
        half=round(max(1.0, whole / inputs.latency)),
        whole=whole,
        compared=exposed_tail(*times, PUBLISHED, inputs.latency),
        curve=tuple(exposed_tail(*times, count, inputs.latency) for count in COLUMN),
    )


TITLE = "How many pieces?"
QUESTION = "How much of an all-reduce stays exposed if the gradient is cut in N pieces?"
HEADLINE = "exposed"
EQUATIONS = (EXPOSED_TAIL, MOST_PIECES)
PRESETS = {
    "One piece": {"pieces": 1},
    "64 pieces": {"pieces": 64},
    "A short backward pass": {"backward": 4e-3},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=(EXPOSED_TAIL,))
    eta = Published(
        text=present.say("a published page's overlap efficiency: {published_overlap}"),
        reason="It divides communication by the backward pass: the better all of it hides, the "
        "smaller it gets.",
        source="pingdo_pipeline",
        claim="E4.42",
    )
    return {
        "curve": partial(_curve, present, inputs, result),
        "exposed": present.value("exposed", symbols={"N": "pieces"}),
        "regime": _regime(present, inputs, result),
        "hidden": present.value("hidden", published=eta),
        "most": present.value("most", equation=MOST_PIECES, symbols={"N": "most"}),
        **present.values("half", "compared", "whole", "published_overlap"),
    }


def _regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if inputs.pieces == 1:
        return Badge(
            text="Nothing hides",
            sentence="One piece is complete only when the backward pass ends.",
            color="communication",
        )
    if inputs.pieces > result.most:
        return Badge(
            text="The wire never rests",
            sentence=present.say(
                "Transfers and {pieces} latencies outlast the backward pass: more pieces only add "
                "latency."
            )
            if result.most > 1
            else "The all-reduce alone outlasts the backward pass, in any number of pieces.",
            color="communication",
        )
    return Badge(
        text="Only the last piece is exposed",
        sentence="All others are summed before the backward pass ends.",
        color="compute",
    )


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    rules = [Rule(key="whole", label="nothing hidden", axis="y", at=result.whole, color="muted")]
    if 1 < result.most < MOST:
        label = "latencies fill the backward pass"
        rules.append(Rule(key="most", label=label, axis="x", at=result.most, color="muted"))
    published = Point(
        key="published", label="16: published optimum", x=16.0, y=result.compared, color="ink"
    )
    low, high = min(result.curve) / 2, max(result.curve) * 2
    return present.curve(
        "Exposed communication against the number of pieces",
        over=Scale("pieces", "pieces of the gradient", 1.0, float(MOST), log=True),
        shows=Scale("exposed", "exposed", low, high, log=True),
        x=COLUMN,
        lines=(Line("exposed", "exposed tail", result.curve, "communication"),),
        points=(published,) if inputs.pieces != PUBLISHED else (),
        rules=tuple(rules),
        caption="Both axes are logarithmic. Drag the handle.",
    )
