"""Flow tails: when the last of many flows is done, by how the flows find their links."""

from functools import partial

from engine.calculators.moving_bytes.flow_tails.result import LEAVES, Result
from engine.calculators.moving_bytes.flow_tails.result import Inputs as Inputs
from engine.calculators.moving_bytes.flow_tails.result import solve as solve
from engine.core.outputs import Teller, Views
from engine.core.units import RATIO, SHARE
from engine.core.views import Axis, Badge, Lines, Point, Series
from engine.simulate.network.flow_tails import ROUTINGS

TITLE = "The last of many flows"
QUESTION = "How long does a step wait for the slowest of many flows?"
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
    tell = Teller(result, inputs)
    return {
        **tell.values("slow", "rare", "busiest", "tail"),
        "verdict": _verdict(tell, inputs, result),
        "done": partial(_done, inputs, result),
        "over_leaves": partial(_over_leaves, tell, inputs, result),
    }


def _verdict(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    own = result.found[inputs.routing]
    if own.busiest > 1.05 * own.even:
        return Badge(
            text="Collisions",
            sentence=tell.say(
                "The busiest link carries {busiest} an even load, and all wait for it."
            ),
            color="communication",
        )
    if result.slow > 1.5:
        return Badge(
            text="Late flows",
            sentence=tell.say(
                "The loads are even. The step waits for flows that are late: {slow}."
            ),
            color="communication",
        )
    return Badge(
        text="Even", sentence=tell.say("The loads are even: the step waits {slow}."), color="data"
    )


def _done(inputs: Inputs, result: Result) -> Lines:
    grid = result.grid
    last = next(
        (time for i, time in enumerate(grid) if all(one.shares[i] > 0.999 for one in
                                                    result.found.values())),
        grid[-1],
    )  # fmt: skip
    kept = [i for i, time in enumerate(grid) if 0.8 <= time <= max(4.0, last)]
    own = result.found[inputs.routing]
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
                y=tuple(result.found[name].shares[i] for i in kept),
                color=_COLORS[name],
                dashed=name != inputs.routing,
            )
            for name in ROUTINGS
        ),
        points=(Point(key="median", label="median", x=own.median, y=0.5),),
        caption="The solid curve is the one that you have chosen.",
    )


def _over_leaves(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    columns = result.over_leaves()
    most = max(max(column) for column in columns.values())
    return Lines(
        title="What the step waits for, over the leaves that take part",
        x=tell.axis("leaves", "leaves", low=1.0, high=512.0, scale="log"),
        y=Axis(label="over equal loads", quantity=RATIO, low=0.0, high=1.1 * most),
        series=tuple(
            Series(
                key=name,
                label=_CURVES[name],
                x=tuple(float(n) for n in LEAVES),
                y=column,
                color=_COLORS[name],
                dashed=name != inputs.routing,
            )
            for name, column in columns.items()
        ),
        points=(Point(key="now", label=tell.say("{slow}"), x=inputs.leaves, y=result.slow),),
        handle="leaves",
    )
