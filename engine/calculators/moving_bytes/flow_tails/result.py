"""Flow tails: what the reader can change, and when the last flow is done."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import PERCENT, Choice, Number
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Count, Ratio
from engine.simulate.network.flow_tails import (
    ROUTINGS,
    Flows,
    Waiting,
    tail_ratio,
    times,
    trials_of,
    waiting,
)

LEAVES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_ASSUMES = (
    "{flows} flows of equal size from each of {leaves} leaves, over {paths} links each; a link is "
    "as fast as a port. {pieces} pieces per flow if hashed.",
    "{trials} random choices of links for each leaf; a flow's delays are independent and spread "
    "over its pieces.",
)
_SOURCES = ("gangidi2024", "shalev2020", "david2003")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    routing: Annotated[str, Choice(label="Flows find their links", options=ROUTINGS)] = "ecmp"
    flows: Annotated[
        int,
        Number(label="Flows of a leaf", low=1, high=256, scale="log2", whole=True, symbol="n"),
    ] = 32
    paths: Annotated[
        int, Number(label="Links upward of a leaf", low=1, high=128, scale="log2", whole=True)
    ] = 32
    leaves: Annotated[int, Number(label="Leaves", low=1, high=512, scale="log2", whole=True)] = 8
    pieces: Annotated[
        int,
        Number(
            label="Pieces of a flow",
            low=1,
            high=32,
            scale="log2",
            whole=True,
            help="Queue pairs of a connection, each hashed by itself.",
        ),
    ] = 1
    deviation: Annotated[
        float,
        Number(
            label="Deviation of a flow's time",
            unit=PERCENT,
            low=0.02,
            high=1.0,
            step=0.01,
            help="Standard deviation of its logarithm, without any collision.",
        ),
    ] = 0.05
    delayed: Annotated[
        float,
        Number(
            label="Flows that are late",
            unit=PERCENT,
            low=0.0,
            high=0.05,
            step=0.0005,
            help="Because of a lost packet, a pause or a bad cable.",
        ),
    ] = 0.0
    delay: Annotated[
        float, Number(label="Their time, over the others'", low=1.0, high=20.0, step=0.5)
    ] = 5.0


def _told(label: str, note: str = "", color: str = "ink") -> Told:
    return Told(label, "", note, color, _ASSUMES, _SOURCES, "simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The distribution of the last flow, for every routing, over the times of `grid`."""

    found: Mapping[str, Waiting]
    grid: tuple[Ratio, ...]
    slow: Annotated[
        Ratio,
        _told("The step waits", "mean, over the time of equal loads and no delay", "communication"),
    ]
    rare: Annotated[Ratio, _told("One step in a thousand", "waits that long or longer")]
    busiest: Annotated[
        Ratio, _told("Busiest link of a leaf", "over an even load, mean of the trials")
    ]
    tail: Annotated[Ratio, _told("One flow alone: P99.9 over P50", "no collisions in it")]
    trials: Count
    over_leaves: Later[Mapping[str, tuple[Ratio, ...]]]


def solve(inputs: Inputs) -> Result:
    """Return the distributions of all three ways to find a link."""
    flows = flows_of(inputs)
    found = {name: waiting(flows, name) for name in ROUTINGS}
    own = found[inputs.routing]
    return Result(
        found=found,
        grid=times(),
        slow=_slow(own),
        rare=own.rare / own.even,
        busiest=own.busiest / own.even,
        tail=tail_ratio(flows),
        trials=trials_of(flows.flows * flows.pieces),
        over_leaves=Later(partial(_slow_over_leaves, flows)),
    )


def _slow_over_leaves(flows: Flows) -> Mapping[str, tuple[Ratio, ...]]:
    """Return what a step waits for with each routing, for every number of `LEAVES`."""
    return {
        name: tuple(_slow(waiting(replace(flows, leaves=n), name)) for n in LEAVES)
        for name in ROUTINGS
    }


def _slow(one: Waiting) -> Ratio:
    return one.mean / one.even


def flows_of(inputs: Inputs) -> Flows:
    """Return the flows of the inputs."""
    return Flows(
        flows=inputs.flows,
        paths=inputs.paths,
        leaves=inputs.leaves,
        pieces=inputs.pieces,
        deviation=inputs.deviation,
        delayed=inputs.delayed,
        delay=inputs.delay,
    )
