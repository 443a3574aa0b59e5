"""Slow port: what one port that sends slowly does to an all-reduce, by algorithm."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

from engine.basis.inputs import GBITS, PERCENT, Number
from engine.basis.text import say
from engine.basis.units import (
    COUNT,
    GB,
    LINK_SPEED,
    MICRO,
    RATIO,
    SECONDS,
    SHARE,
    Gbit,
    Ratio,
    Seconds,
)
from engine.basis.views import Axis, Badge, Lines, Point, Receipt, Series, Value, View
from engine.form import hand_model as _hand_model
from engine.form.fields import FewGpus
from engine.form.hand_model import Hand, label, model, slowed
from engine.simulate.collective_time import drained
from engine.simulate.fair_share import Link
from engine.simulate.lumping import lumped

TITLE = "One slow port"
QUESTION = "How much slower is an all-reduce if one port of many sends at a fraction of its speed?"
SLOW_GPU = 1
_SLOW: Link = ("port_out", SLOW_GPU, 0)
_LOW = 0.05
_SHARES = (_LOW, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0)
_SHOWN = {"ring": "communication", "tree": "tensor", "star": "expert"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    slow_share: Annotated[
        float,
        Number(label="Speed left of one port", unit=PERCENT, low=_LOW, high=1.0, step=0.05),
    ] = 0.25
    world_size: FewGpus = 8
    port: Annotated[
        float,
        Number(label="Port per GPU", unit=GBITS, low=10 * Gbit, high=1600 * Gbit, scale="log"),
    ] = 400 * Gbit


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the ring's time, what it waits for, and the curves of three algorithms."""
    ring = _run(inputs, "ring")
    return {
        "time": Value(
            label="The ring now",
            value=ring.timed.time,
            quantity=SECONDS,
            receipt=_receipt(inputs),
            note=say("GPU 1 sends at {s}", s=(inputs.slow_share, SHARE)),
            color="communication",
        ),
        "even_time": Value(
            label="With equal ports",
            value=ring.even.time,
            quantity=SECONDS,
            receipt=_receipt(inputs),
            note=say("a buffer of 14 GB on {n} GPUs", n=(inputs.world_size, COUNT)),
        ),
        "binding": _binding(inputs, ring),
        "curve": _curve(inputs, ring),
    }


def _hand_inputs(inputs: Inputs, algorithm: str) -> _hand_model.Inputs:
    return _hand_model.Inputs(
        algorithm=algorithm,
        world_size=inputs.world_size,
        slow_share=inputs.slow_share,
        slow_gpu=SLOW_GPU,
        size=14 * GB,
        port=inputs.port,
        latency=5 * MICRO,
    )


def _run(inputs: Inputs, algorithm: str) -> Hand:
    return model(_hand_inputs(inputs, algorithm))


def _receipt(inputs: Inputs) -> Receipt:
    return Receipt(
        basis="simulated",
        assumptions=(
            say(
                "One port of {b} per GPU, on one switch that never blocks; 5 µs per message.",
                b=(inputs.port, LINK_SPEED),
            ),
            "Messages of a round start together and share ports max-min fairly; a round starts "
            "when the one before has ended.",
        ),
        sources=("bertsekas1992", "hockney1994"),
    )


def _binding(inputs: Inputs, ring: Hand) -> Badge:
    slower: Ratio = ring.timed.time / ring.even.time
    slow = _SLOW in ring.timed.binding and inputs.slow_share < 1
    if slow:
        return Badge(
            text=f"Port of GPU {SLOW_GPU}",
            sentence=say(
                "{k} GPUs wait for the port of one: the ring takes {r} as long as with equal "
                "ports.",
                k=(inputs.world_size - 1, COUNT),
                r=(slower, RATIO),
            ),
            color="communication",
        )
    return Badge(
        text="All ports alike",
        sentence="No port is slower than its likes; every one is full all the time.",
        color="data",
    )


@lru_cache(maxsize=16)
def _times(inputs: Inputs) -> dict[str, tuple[Seconds, ...]]:
    """Return the times of the curves, which are those of all slow ports."""
    found = {}
    for name in _SHOWN:
        run = _run(inputs, name)
        # Flows that no slow port tells apart are simulated once.
        plan = tuple(lumped(phase, [_SLOW]) for phase in run.plan)
        few, given = replace(run, plan=plan, drains=drained(plan)), _hand_inputs(inputs, name)
        found[name] = tuple(slowed(few, given, share).time for share in _SHARES)
    return found


def _curve(inputs: Inputs, ring: Hand) -> Lines:
    times = _times(replace(inputs, slow_share=1.0))
    every = [time for column in times.values() for time in column]
    now = ring.timed.time
    return Lines(
        title="Time of one all-reduce over the speed of one port",
        x=Axis(label="speed left of one port", quantity=SHARE, low=_LOW, high=1.0),
        y=Axis(
            label="time", quantity=SECONDS, low=min(every) / 1.5, high=max(every) * 1.5, scale="log"
        ),
        series=tuple(
            Series(key=name, label=label(name).lower(), x=_SHARES, y=column, color=color)
            for (name, column), color in zip(times.items(), _SHOWN.values(), strict=True)
        ),
        points=(Point(key="now", label=say("{t}", t=(now, SECONDS)), x=inputs.slow_share, y=now),),
        handle="slow_share",
        caption="The axis of time is logarithmic. Drag the handle to the left.",
    )
