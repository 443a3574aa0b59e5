"""Goodput against loss: what the reader can change, and what arrives as new."""

from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Annotated

from engine.core.inputs import GBITS, MEGABYTES, MICROSECONDS, PERCENT, Number, Unit
from engine.core.lazy import Later
from engine.core.outputs import Symbol, Told
from engine.core.units import BYTES, COUNT, MB, MICRO, Bandwidth, Count, Gbit, KiB, Seconds, Share
from engine.formulas.retransmission import (
    TICK,
    answer_timeout,
    go_back_0_goodput,
    go_back_n_goodput,
    half_goodput_loss,
    round_trip_packets,
    selective_repeat_goodput,
)
from engine.simulate.network.lost_packets import GO_BACK_0 as WHOLE
from engine.simulate.network.lost_packets import GO_BACK_N as AGAIN
from engine.simulate.network.lost_packets import dice, every, send

LOW, HIGH, _DROPPED = 1e-7, 0.1, 256
# Guo et al. 2016, section 4.1: 40 Gb/s, messages of 4 MB, packets of 1 KB.
GUO = {"loss": 1 / _DROPPED, "port": 40 * Gbit, "packet": 1 * KiB, "message": 4 * MB}
_PACKETS = Unit(" B", 1.0, {"KiB": KiB, "kB": 1e3}, quantity=BYTES)
LOSSES = tuple(10 ** (-7 + step / 10) for step in range(61))
_PLAYED = 40_000
_ASSUMES = (
    "A sender that always has something to send; losses are independent of each other, and "
    "reported one round trip after the lost packet was sent.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

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
    """What arrives as new, by the way lost packets are sent again.

    `curves` are over `LOSSES`: selective repeat, go back N, go back 0; `dropped` is what go back 0
    and go back N deliver in the published test.
    """

    again: Annotated[
        Share, Told("Go back N", "g", "{reached} of a port", "communication", _ASSUMES)
    ]
    reached: Bandwidth
    selective: Annotated[
        Share, Told("Selective repeat", "g", "only what was lost travels twice", "data", _ASSUMES)
    ]
    window: Annotated[
        float,
        COUNT,
        Told("Packets sent again", "w", "for every lost one, with go back N", "ink", _ASSUMES),
    ]
    half: Annotated[
        Share, Told("Half is left", "q", "at this loss, with go back N", "ink", _ASSUMES)
    ]
    played: Annotated[
        Share,
        Told("Packet by packet", "", "go back N, {packets} packets with seeded dice", "ink",
             (*_ASSUMES, "The closed form is for a port that never stops: the two agree to the "
              "luck of the dice and to whole packets in the window."), basis="simulated"),
    ]  # fmt: skip
    packets: Count
    curves: Later[tuple[tuple[Share, ...], ...]]
    dropped: Later[tuple[Share, Share]]
    tick: Annotated[Seconds, Told(symbol="c")]
    wait: Annotated[
        Seconds,
        Told("A lost last packet", "T", "until a timer sends it again, at most", "ink",
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
        played=_play(inputs.loss, round(window)),
        packets=_PLAYED,
        curves=Later(partial(_curves, inputs, window)),
        dropped=Later(_dropped),
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
def _dropped() -> tuple[Share, Share]:
    port, packet, message = GUO["port"], GUO["packet"], GUO["message"]
    window = round(round_trip_packets(port, Inputs().round_trip, packet))
    count = round(message / packet)
    whole, again = (
        send(way, every(_DROPPED), window, count, _PLAYED).goodput for way in (WHOLE, AGAIN)
    )
    return whole, again


@lru_cache(maxsize=16)
def _play(loss: Share, window: Count) -> Share:
    return send(AGAIN, dice(loss, 1), window, 1, _PLAYED).goodput
