"""Counters with one line, customer by customer: a timeline to play."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import PERCENT, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Seconds
from engine.core.views import Lane, Span, Timeline
from queueing.simulate.counters import Visit, visits

TITLE = "Customer by customer"
QUESTION = "Who waits, and for how long?"
HEADLINE = "mean_wait"
SERVICE, CUSTOMERS = 180.0, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    counters: Annotated[int, Number(label="Counters", low=1, high=4, whole=True)] = 2
    load: Annotated[
        float, Number(label="Load of each", unit=PERCENT, low=0.1, high=0.98, step=0.01)
    ] = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the page."""

    mean_wait: Annotated[Seconds, Output("Mean wait", basis="simulated")]
    longest_wait: Annotated[Seconds, Output("Longest wait", basis="simulated")]
    end: Annotated[Seconds, Output("The last one leaves", basis="simulated")]
    visits: tuple[Visit, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    found = visits(inputs.counters, inputs.load, SERVICE, CUSTOMERS)
    return Result(
        mean_wait=sum(visit.wait for visit in found) / len(found),
        longest_wait=max(visit.wait for visit in found),
        end=max(visit.left for visit in found),
        visits=found,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        "hours": partial(_hours, present, inputs, result),
        **present.values("mean_wait", "longest_wait"),
    }


def _hours(present: Presenter, inputs: Inputs, result: Result) -> Timeline:
    spans = tuple(
        Span(
            key=str(number),
            lane=str(visit.counter),
            start=visit.began,
            end=visit.left,
            label=str(number),
            color="compute" if visit.wait == 0 else "communication",
            links=(f"customer:{number}",),
        )
        for number, visit in enumerate(result.visits, 1)
    )
    return Timeline(
        title="The counters",
        axis=present.axis("end", "time", low=0.0, high=result.end * 1.02),
        lanes=tuple(Lane(key=str(n), label=f"counter {n + 1}") for n in range(inputs.counters)),
        spans=spans,
        keys=(("did not wait", "compute"), ("waited", "communication")),
        player=True,
        caption=present.say("{mean_wait} of waiting on average, {longest_wait} at most."),
    )
