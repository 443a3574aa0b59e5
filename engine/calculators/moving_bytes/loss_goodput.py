"""Goodput over packet loss, by retransmission scheme."""

from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Annotated

from engine.core.inputs import GBITS, MEGABYTES, MICROSECONDS, PERCENT, Number, Unit
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.text import say
from engine.core.units import (
    BYTES,
    COUNT,
    LINK_SPEED,
    MB,
    MICRO,
    SHARE,
    Bandwidth,
    Count,
    Gbit,
    KiB,
    Seconds,
    Share,
)
from engine.core.views import Badge, Citation, Line, Lines, Rule, Scale, Table
from engine.formulas.retransmission import (
    ANSWER_TIMEOUT,
    GO_BACK_0,
    GO_BACK_N,
    HALF_GOODPUT_LOSS,
    ROUND_TRIP_PACKETS,
    SELECTIVE_REPEAT,
    TICK,
    answer_timeout,
    go_back_0_goodput,
    go_back_n_goodput,
    half_goodput_loss,
    round_trip_packets,
    selective_repeat_goodput,
)
from engine.simulate.network.lost_packets import GO_BACK_0 as GO_BACK_0_SCHEME
from engine.simulate.network.lost_packets import GO_BACK_N as GO_BACK_N_SCHEME
from engine.simulate.network.lost_packets import periodic_losses, random_losses, send_packets

LOW, HIGH, _DROPPED = 1e-7, 0.1, 256
# Guo et al. 2016, section 4.1: 40 Gb/s, messages of 4 MB, packets of 1 KB.
GUO_SETUP = {"loss": 1 / _DROPPED, "port": 40 * Gbit, "packet": 1 * KiB, "message": 4 * MB}
_PACKETS = Unit(" B", 1.0, {"KiB": KiB, "kB": 1e3}, quantity=BYTES)
LOSSES = tuple(10 ** (-7 + step / 10) for step in range(61))
_PLAYED = 40_000
_ASSUMES = (
    "A sender that always has something to send; losses are independent of each other, and "
    "reported one round trip after the lost packet was sent.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    loss: Annotated[
        float,
        Number(label="Packets lost", unit=PERCENT, low=LOW, high=HIGH, scale="log", symbol="q"),
    ] = 1e-2
    port: Annotated[
        float,
        Number(label="Port", unit=GBITS, low=10 * Gbit, high=1600 * Gbit, scale="log", symbol="B"),
    ] = 400 * Gbit
    round_trip: Annotated[
        float,
        Number(
            label="Round trip",
            unit=MICROSECONDS,
            low=1 * MICRO,
            high=1000 * MICRO,
            scale="log",
            help="From a packet until its answer, queues included.",
        ),
        Symbol("t"),
    ] = 10 * MICRO
    packet: Annotated[
        float,
        Number(label="Packet", unit=_PACKETS, low=256.0, high=4096.0, scale="log2", symbol="z"),
    ] = 4096.0
    message: Annotated[
        float,
        Number(label="Message", unit=MEGABYTES, low=0.01 * MB, high=100 * MB, scale="log",
               advanced=True),
    ] = 4 * MB  # fmt: skip
    timeout: Annotated[
        int,
        Number(label="NCCL_IB_TIMEOUT", low=1, high=31, whole=True, symbol="k", advanced=True),
    ] = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The goodput by retransmission scheme.

    `curves` are over `LOSSES`: selective repeat, go back N, go back 0; `dropped` is what go back 0
    and go back N deliver in the published test.
    """

    again: Annotated[
        Share, Output("Go back N", "g", "{reached} of a port", "communication", _ASSUMES)
    ]
    reached: Bandwidth
    selective: Annotated[
        Share, Output("Selective repeat", "g", "only what was lost travels twice", "data", _ASSUMES)
    ]
    window: Annotated[
        float,
        COUNT,
        Output("Packets sent again", "w", "for every lost one, with go back N", "ink", _ASSUMES),
    ]
    half: Annotated[
        Share, Output("Half is left", "q", "at this loss, with go back N", "ink", _ASSUMES)
    ]
    played: Annotated[
        Share,
        Output("Packet by packet", "", "go back N, {packets} packets with seeded dice", "ink",
             (*_ASSUMES, "The closed form is for a port that never stops: the two agree to the "
              "luck of the dice and to whole packets in the window."), basis="simulated"),
    ]  # fmt: skip
    packets: Count
    curves: Lazy[tuple[tuple[Share, ...], ...]]
    dropped: Lazy[tuple[Share, Share]]
    tick: Annotated[Seconds, Output(symbol="c")]
    wait: Annotated[
        Seconds,
        Output("A lost last packet", "T", "until a timer sends it again, at most", "ink",
             ("Cards with adaptive retransmission over RoCE begin with shorter waits.",)),
    ]  # fmt: skip


def solve(inputs: Inputs) -> Result:
    """Return the goodput of three ways to send again."""
    window = round_trip_packets(inputs.port, inputs.round_trip, inputs.packet)
    again = go_back_n_goodput(inputs.loss, window)
    return Result(
        again=again,
        reached=again * inputs.port,
        selective=selective_repeat_goodput(inputs.loss),
        window=window,
        half=half_goodput_loss(window),
        played=_simulate(inputs.loss, round(window)),
        packets=_PLAYED,
        curves=Lazy(partial(_curves, inputs, window)),
        dropped=Lazy(_measured_case),
        tick=TICK,
        wait=answer_timeout(inputs.timeout),
    )


def _curves(inputs: Inputs, window: float) -> tuple[tuple[Share, ...], ...]:
    count = max(1, round(inputs.message / inputs.packet))
    return (
        tuple(selective_repeat_goodput(q) for q in LOSSES),
        tuple(go_back_n_goodput(q, window) for q in LOSSES),
        tuple(go_back_0_goodput(q, window, count) for q in LOSSES),
    )


@cache
def _measured_case() -> tuple[Share, Share]:
    port, packet, message = GUO_SETUP["port"], GUO_SETUP["packet"], GUO_SETUP["message"]
    window = round(round_trip_packets(port, Inputs().round_trip, packet))
    count = round(message / packet)
    whole, again = (
        send_packets(scheme, periodic_losses(_DROPPED), window, count, _PLAYED).goodput
        for scheme in (GO_BACK_0_SCHEME, GO_BACK_N_SCHEME)
    )
    return whole, again


@lru_cache(maxsize=16)
def _simulate(loss: Share, window: Count) -> Share:
    return send_packets(GO_BACK_N_SCHEME, random_losses(loss, 1), window, 1, _PLAYED).goodput


TITLE = "Goodput of a port that loses packets"
QUESTION = "How much does one lost packet in a hundred cost?"
HEADLINE = "again"
EQUATIONS = (
    GO_BACK_N,
    SELECTIVE_REPEAT,
    GO_BACK_0,
    ROUND_TRIP_PACKETS,
    HALF_GOODPUT_LOSS,
    ANSWER_TIMEOUT,
)
PRESETS = {
    "One packet in a million": {"loss": 1e-6},
    "One packet in a thousand": {"loss": 1e-3},
    "An inter-building round trip": {"round_trip": 100 * MICRO},
    "Microsoft's test of 2016": GUO_SETUP,
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the goodput curves, the values, and a published measurement."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    numbers = present.values("window", "half", "played", "wait")
    return {
        "curve": partial(_curve, present, inputs, result),
        "verdict": _verdict(present, result),
        "again": present.value("again", equation=GO_BACK_N, symbols={"w": "window", "q": "loss"}),
        "selective": present.value("selective", equation=SELECTIVE_REPEAT, symbols={"q": "loss"}),
        **numbers,
        "published": partial(_published, result),
        "formula": present.formula("With your numbers", GO_BACK_N, g="again", w="window", q="loss"),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    if result.again > 0.99:
        return Badge(
            text="Hardly felt",
            sentence=present.say("Either way, at least {again} of the port is left."),
            color="data",
        )
    return Badge(
        text="One lost, many sent again",
        sentence=present.say(
            "Every lost packet makes go back N send {window} of them again. {again} of the port is "
            "left, where selective repeat keeps {selective}."
        ),
        color="communication",
    )


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    lines = (
        ("selective", "selective repeat", "data"),
        ("again", "go back N", "communication"),
        ("whole", "go back 0", "pipeline"),
    )
    return present.curve(
        "Share of the port that delivers something new",
        over=Scale("loss", "packets lost", LOW, HIGH, log=True),
        shows=Scale("again", "share of the port", 0.0, 1.05),
        x=LOSSES,
        lines=(
            Line(key, label, column, color)
            for (key, label, color), column in zip(lines, result.curves(), strict=True)
        ),
        rules=(Rule(key="half", label="half is left", axis="x", at=result.half),)
        if LOW < result.half < HIGH
        else (),
        caption=say(
            "The axis of losses is logarithmic. Go back 0 begins a whole message anew, here one "
            "of {m}; early RoCE cards did.",
            m=(inputs.message, BYTES),
        ),
    )


def _published(result: Result) -> Table:
    """Return the published test of a link that drops every 256th packet, beside ours."""
    whole, again = result.dropped()
    return Table(
        title="Every 256th packet dropped on purpose, measured and played",
        columns=("Sent again", "Measured goodput", "Played here", "Source"),
        rows=(
            ("go back 0", "none", say("{s}", s=(whole, SHARE)), Citation(("guo2016",))),
            ("go back N", "not printed", say("{s}", s=(again, SHARE)), Citation(("guo2016",))),
        ),
        caption=say(
            "Messages of {m}; the {p} and the round trip are assumed; go back 0 does not depend "
            "on them. The link was full all the time.",
            m=(GUO_SETUP["message"], BYTES),
            p=(GUO_SETUP["port"], LINK_SPEED),
        ),
    )
