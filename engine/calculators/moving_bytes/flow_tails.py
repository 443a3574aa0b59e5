"""Flow tails: when the last of many flows is done, by how the flows find their links."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import PERCENT, Choice, Number
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import RATIO, SHARE, Count, Ratio
from engine.core.views import Axis, Badge, Line, Lines, Point, Scale, Series
from engine.simulate.network.flow_tails import (
    ROUTINGS,
    FlowBatch,
    LastFlowTimes,
    last_flow_times,
    num_trials,
    tail_ratio,
    time_grid,
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
    """The calculator's inputs."""

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


def _output(label: str, note: str = "", color: str = "ink") -> Output:
    return Output(label, "", note, color, _ASSUMES, _SOURCES, "simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The distribution of the last flow, for every routing, over the times of `grid`."""

    by_routing: Mapping[str, LastFlowTimes]
    grid: tuple[Ratio, ...]
    slow: Annotated[
        Ratio,
        _output(
            "The step waits", "mean, over the time of equal loads and no delay", "communication"
        ),
    ]
    rare: Annotated[Ratio, _output("One step in a thousand", "waits that long or longer")]
    busiest: Annotated[
        Ratio, _output("Busiest link of a leaf", "over an even load, mean of the trials")
    ]
    tail: Annotated[Ratio, _output("One flow alone: P99.9 over P50", "no collisions in it")]
    trials: Count
    over_leaves: Lazy[Mapping[str, tuple[Ratio, ...]]]


def solve(inputs: Inputs) -> Result:
    """Return the distributions of all three routings."""
    flows = flows_of(inputs)
    by_routing = {name: last_flow_times(flows, name) for name in ROUTINGS}
    chosen = by_routing[inputs.routing]
    return Result(
        by_routing=by_routing,
        grid=time_grid(),
        slow=_slowdown(chosen),
        rare=chosen.rare / chosen.even,
        busiest=chosen.busiest / chosen.even,
        tail=tail_ratio(flows),
        trials=num_trials(flows.flows * flows.pieces),
        over_leaves=Lazy(partial(_slowdown_over_leaves, flows)),
    )


def _slowdown_over_leaves(flows: FlowBatch) -> Mapping[str, tuple[Ratio, ...]]:
    """Return the mean slowdown with each routing, for every number of `LEAVES`."""
    return {
        name: tuple(_slowdown(last_flow_times(replace(flows, leaves=n), name)) for n in LEAVES)
        for name in ROUTINGS
    }


def _slowdown(distribution: LastFlowTimes) -> Ratio:
    return distribution.mean / distribution.even


def flows_of(inputs: Inputs) -> FlowBatch:
    """Return the flows of the inputs."""
    return FlowBatch(
        flows=inputs.flows,
        paths=inputs.paths,
        leaves=inputs.leaves,
        pieces=inputs.pieces,
        deviation=inputs.deviation,
        delayed=inputs.delayed,
        delay=inputs.delay,
    )


TITLE = "The last of many flows"
QUESTION = "How long does a step wait for the slowest of many flows?"
HEADLINE = "slow"
PRESETS = {
    "48 flows on 32 links": {"flows": 48},
    "16 queue pairs per connection": {"pieces": 16},
    "Adaptive routing": {"routing": "adaptive"},
    "Spraying": {"routing": "spray"},
    "One flow in a thousand is late": {
        "routing": "spray",
        "leaves": 128,
        "delayed": 0.001,
        "delay": 5.0,
    },
    "P99.9 at twenty times the median": {
        "routing": "spray",
        "leaves": 128,
        "delayed": 0.005,
        "delay": 20.0,
    },
}
# Names that fit beside their curves on a phone.
_CURVES = {"ecmp": "ECMP", "adaptive": "adaptive routing", "spray": "spraying"}
_COLORS = {"ecmp": "communication", "adaptive": "pipeline", "spray": "data"}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the curves and the numbers of the reader's own."""
    present = Presenter(result, inputs)
    return {
        **present.values("slow", "rare", "busiest", "tail"),
        "verdict": _verdict(present, inputs, result),
        "done": partial(_distribution_chart, inputs, result),
        "over_leaves": partial(_over_leaves, present, inputs, result),
    }


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    chosen = result.by_routing[inputs.routing]
    if chosen.busiest > 1.05 * chosen.even:
        return Badge(
            text="Collisions",
            sentence=present.say(
                "The busiest link carries {busiest} an even load, and all wait for it."
            ),
            color="communication",
        )
    if result.slow > 1.5:
        return Badge(
            text="Late flows",
            sentence=present.say(
                "The loads are even. The step waits for flows that are late: {slow}."
            ),
            color="communication",
        )
    return Badge(
        text="Even",
        sentence=present.say("The loads are even: the step waits {slow}."),
        color="data",
    )


def _distribution_chart(inputs: Inputs, result: Result) -> Lines:
    grid = result.grid
    last = next(
        (
            time
            for i, time in enumerate(grid)
            if all(distribution.shares[i] > 0.999 for distribution in result.by_routing.values())
        ),
        grid[-1],
    )
    kept = [i for i, time in enumerate(grid) if 0.8 <= time <= max(4.0, last)]
    chosen = result.by_routing[inputs.routing]
    return Lines(
        title="Steps whose last flow is done",
        x=Axis(
            label="time over that of an undisturbed flow",
            quantity=RATIO,
            low=grid[kept[0]],
            high=grid[kept[-1]],
            scale="log",
        ),
        y=Axis(label="share of the steps", quantity=SHARE, low=0.0, high=1.02),
        series=tuple(
            Series(
                key=name,
                label=_CURVES[name],
                x=tuple(grid[i] for i in kept),
                y=tuple(result.by_routing[name].shares[i] for i in kept),
                color=_COLORS[name],
                dashed=name != inputs.routing,
            )
            for name in ROUTINGS
        ),
        points=(Point(key="median", label="median", x=chosen.median, y=0.5),),
        caption="The solid curve is the one that you have chosen.",
    )


def _over_leaves(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    columns = result.over_leaves()
    most = max(max(column) for column in columns.values())
    return present.curve(
        "What the step waits for, over the leaves that take part",
        over=Scale("leaves", "leaves", 1.0, 512.0, log=True),
        shows=Scale("slow", "over equal loads", 0.0, 1.1 * most),
        x=LEAVES,
        lines=(
            Line(name, _CURVES[name], column, _COLORS[name], dashed=name != inputs.routing)
            for name, column in columns.items()
        ),
    )
