"""Collectives by hand: what the run counted and proved, and its time on wires."""

from dataclasses import dataclass
from functools import partial
from math import fsum
from typing import Annotated

from engine.calculators.moving_bytes.collectives_by_hand.inputs import Inputs, setup_of
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Bytes, Count, Ratio, Seconds
from engine.simulate.collectives.collective_execution import part, promise
from engine.simulate.collectives.collective_trace import Trace, port_bytes
from engine.simulate.collectives.collective_walkthrough import Hand, agreed, play
from engine.simulate.network.topology import describe

_COUNTED = ("Counted in the run that the scene shows; the tests hold it against the closed form.",)
_SOURCES = ("patarasuk2009", "thakur2005", "sanders2009")
_WIRES = (
    "One port of {port} per GPU, all on one switch that never blocks.",
    "Messages of a round start together and share ports max-min fairly; a round starts when "
    "the one before has ended.",
)
_FLUID = ("bertsekas1992", "hockney1994")


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """One chunk, at the end.

    Attributes:
        ranks: the GPUs that must hold it.
        held: the different values that they do hold.
        parts: the numbers whose sum they must hold, from the first frame.
    """

    ranks: tuple[int, ...]
    held: tuple[int, ...]
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the run counted and proved, and its time on wires; `hand` is the run.

    `waits_for` is the link that the last message waits for, in words.
    """

    hand: Hand
    rounds: Annotated[Count, Told("Rounds", assumes=_COUNTED, sources=_SOURCES, basis="simulated")]
    busiest_port: Annotated[
        Ratio,
        Told(
            "Busiest port sends",
            "",
            "the buffer",
            "communication",
            assumes=_COUNTED,
            sources=_SOURCES,
            basis="simulated",
        ),
    ]
    all_ports: Annotated[
        Ratio,
        Told(
            "All ports together send",
            "",
            "the buffer, from {world_size} GPUs",
            assumes=_COUNTED,
            sources=_SOURCES,
            basis="simulated",
        ),
    ]
    time: Annotated[
        Seconds,
        Told(
            "",
            "",
            "{latency_part} of it latency",
            "communication",
            assumes=_WIRES,
            sources=_FLUID,
            basis="simulated",
        ),
    ]
    latency_part: Seconds
    even_time: Annotated[
        Seconds,
        Told(
            "With equal ports",
            "",
            "{slower} as long with the slow one",
            assumes=("The same run with no slow port.",),
            sources=_FLUID,
            basis="simulated",
        ),
    ]
    slower: Ratio
    equal: tuple[bool, ...]
    cells: Count
    wrong: Count
    ports: tuple[tuple[Bytes, Bytes], ...]
    waits_for: str
    chunks: Later[tuple[Owed, ...]]


def solve(inputs: Inputs) -> Result:
    """Return the run on numbers and on wires."""
    hand = play(setup_of(inputs))
    sent = [out for out, _ in port_bytes(hand.trace, -1, 1.0)]
    equal = agreed(hand.trace)
    return Result(
        hand=hand,
        rounds=len(hand.trace.frames) - 1,
        busiest_port=max(sent),
        all_ports=fsum(sent),
        time=hand.timed.time,
        latency_part=hand.timed.latency,
        even_time=hand.even.time,
        slower=hand.timed.time / hand.even.time,
        equal=equal,
        cells=len(equal),
        wrong=equal.count(False),
        ports=port_bytes(hand.trace, -1, inputs.size),
        waits_for=describe(hand.timed.binding[0]) if hand.timed.binding else "",
        chunks=Later(partial(_chunks, hand.trace)),
    )


def _chunks(trace: Trace) -> tuple[Owed, ...]:
    return tuple(_owed(trace, chunk) for chunk in range(trace.chunks))


def _owed(trace: Trace, chunk: int) -> Owed:
    n, final = trace.world_size, trace.frames[-1].state
    cells = {rank: cell for rank in range(n) if (cell := promise(trace, rank, chunk)) is not None}
    adders = sorted(next(iter(cells.values())).ranks)
    return Owed(
        ranks=tuple(cells),
        held=tuple(sorted({final[rank][chunk].value for rank in cells})),
        parts=tuple(part(rank, chunk, n, trace.chunks, trace.seed) for rank in adders),
    )
