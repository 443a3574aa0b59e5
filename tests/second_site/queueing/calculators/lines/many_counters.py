"""Several counters with one line."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import PERCENT, Number, Unit
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import SECONDS, Seconds, Share
from engine.core.views import Bar, Bars, Segment
from queueing.formulas.counters import shared_wait, waiting

TITLE = "Several counters with one line"
QUESTION = "How long is the wait when counters share a line?"
HEADLINE = "wait"
MINUTES = Unit(" min", 60.0, {"s": 1.0, "h": 3600.0}, quantity=SECONDS)
MOST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    counters: Annotated[int, Number(label="Counters", low=1, high=MOST, whole=True)] = 3
    load: Annotated[
        float, Number(label="Load of each", unit=PERCENT, low=0.05, high=0.98, step=0.01)
    ] = 0.8
    service: Annotated[
        float, Number(label="Service", unit=MINUTES, low=30.0, high=1800.0, step=30.0)
    ] = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the page."""

    waiting: Annotated[Share, Output("Have to wait", sources=("erlang1917",))]
    wait: Annotated[Seconds, Output("Wait", color="communication", sources=("erlang1917",))]
    waits: tuple[Seconds, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    return Result(
        waiting=waiting(inputs.counters, inputs.load),
        wait=shared_wait(inputs.counters, inputs.load, inputs.service),
        waits=tuple(shared_wait(n, inputs.load, inputs.service) for n in range(1, MOST + 1)),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    bars = tuple(
        Bar(
            key=str(n),
            label=f"{n} counters" if n > 1 else "1 counter",
            segments=(Segment(key="wait", label="wait", value=wait, color="communication"),),
        )
        for n, wait in enumerate(result.waits, 1)
    )
    return {
        **present.values("waiting", "wait"),
        "by_counters": Bars(
            title="Wait by the number of counters, each as busy",
            axis=present.axis("wait", "wait", low=0.0, high=max(result.waits)),
            bars=bars,
            caption=present.say("Each counter is busy {load} of the time."),
        ),
    }
