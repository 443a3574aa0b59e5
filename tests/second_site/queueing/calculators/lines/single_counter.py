"""One counter: the wait over the load."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import PERCENT, Number, Unit
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import SECONDS, Seconds
from engine.core.views import Lines, Point, Series
from queueing.formulas.counters import IN_LINE, WAIT, Customers, in_line, single_wait

TITLE = "One counter"
QUESTION = "How long does a customer wait?"
HEADLINE = "wait"
EQUATIONS = (WAIT, IN_LINE)
PRESETS = {"A quiet morning": {"load": 0.3}, "Before a holiday": {"load": 0.95}}
MINUTES = Unit(" min", 60.0, {"s": 1.0, "h": 3600.0}, quantity=SECONDS)
_LOADS = tuple(step / 100 for step in range(5, 99))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    load: Annotated[
        float,
        Number(label="Load", unit=PERCENT, low=0.05, high=0.98, step=0.01, symbol="r"),
    ] = 0.8
    service: Annotated[
        float,
        Number(label="Service", unit=MINUTES, low=30.0, high=1800.0, step=30.0, symbol="s"),
    ] = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the page."""

    wait: Annotated[
        Seconds, Output("Wait", "W", assumes=("Nobody leaves the line.",), color="communication")
    ]
    in_line: Annotated[Customers, Output("In line", "L")]
    waits: tuple[Seconds, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    return Result(
        wait=single_wait(inputs.load, inputs.service),
        in_line=in_line(inputs.load),
        waits=tuple(single_wait(load, inputs.service) for load in _LOADS),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result, equations=EQUATIONS)
    return {
        **present.values("wait", "in_line"),
        "formula": present.formula("The wait", WAIT),
        "over_loads": partial(_over_loads, present, inputs, result),
    }


def _over_loads(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    curve = Series(key="wait", label="wait", x=_LOADS, y=result.waits, color="communication")
    now = Point(key="now", label=present.say("{wait}"), x=inputs.load, y=result.wait)
    return Lines(
        title="Wait over load",
        x=present.axis("load", "load", low=0.0, high=1.0),
        y=present.axis("wait", "wait", low=1.0, high=100_000.0, scale="log"),
        series=(curve,),
        points=(now,),
        handle="load",
        caption=present.say("A load of {load}, a wait of {wait}; drag the handle."),
    )
