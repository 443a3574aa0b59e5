"""What a new guide, calculator, test, page or list of words begins as: texts to be rewritten."""

GUIDE = """+++
title = "{title}"
question = "What does this guide answer?"
summary = "One sentence for lists and search engines."
path = "Z Drafts"
order = {order}
updated = 2026-01-01
minutes = 5
draft = true
+++

Say in two sentences what the reader will be able to do.

## First section

Place a calculator in a paragraph of its own with double brackets around its name, and its
outputs and inputs inside sentences with `[[calculator.output]]` and `[[calculator.input]]`.
"""

CALCULATOR = r'''"""{title}: one sentence on what it computes."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.equation import Equation
from engine.core.inputs import GBITS, MEGABYTES, MICROSECONDS, Number
from engine.core.outputs import Symbol, Teller, Told, Views
from engine.core.units import MB, MICRO, Bandwidth, Bytes, Gbit, Seconds
from engine.core.views import Lines, Point, Series

TITLE = "{title}"
QUESTION = "How long does it take to move this many bytes?"
# A formula that several calculators use stands in {package}/formulas, with a test of its own.
TIME = Equation(
    "{name}",
    r"\v{{T}} = \v{{a}} + \frac{{\v{{S}}}}{{\v{{B}}}}",
    {{
        "T": ("T", "time"),
        "a": (r"\alpha", "latency"),
        "S": ("S", "size"),
        "B": ("B", "bandwidth"),
    }},
)
EQUATIONS = (TIME,)
PRESETS = {{"A small message": {{"size": 1 * MB}}}}
_SIZES = tuple(MB * 10 ** (exponent / 10) for exponent in range(31))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    size: Annotated[
        float,
        Number(label="Size", unit=MEGABYTES, low=1 * MB, high=1000 * MB, scale="log", symbol="S"),
    ] = 100 * MB
    bandwidth: Annotated[
        float,
        Number(label="Link", unit=GBITS, low=1 * Gbit, high=1600 * Gbit, scale="log", symbol="B"),
    ] = 400 * Gbit
    latency: Annotated[
        float,
        Number(
            label="Latency",
            unit=MICROSECONDS,
            low=1 * MICRO,
            high=50 * MICRO,
            scale="log",
            symbol="α",
        ),
        Symbol("a"),
    ] = 5 * MICRO


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the page."""

    time: Annotated[
        Seconds, Told("Time", "T", assumes=("Nothing else uses the link.",), color="communication")
    ]
    times: tuple[Seconds, ...]


def transfer_time(size: Bytes, bandwidth: Bandwidth, latency: Seconds) -> Seconds:
    """Return how long a message takes."""
    return latency + size / bandwidth


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    times = (transfer_time(size, inputs.bandwidth, inputs.latency) for size in _SIZES)
    return Result(
        time=transfer_time(inputs.size, inputs.bandwidth, inputs.latency),
        times=tuple(times),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page; what costs time is given as a function."""
    tell = Teller(inputs, result, equations=EQUATIONS)
    return {{
        **tell.values("time"),
        "formula": tell.formula("One message", TIME),
        "over_sizes": partial(_over_sizes, tell, inputs, result),
    }}


def _over_sizes(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    curve = Series(key="time", label="time", x=_SIZES, y=result.times, color="communication")
    now = Point(key="now", label=tell.say("{{time}}"), x=inputs.size, y=result.time)
    return Lines(
        title="Time over the size",
        x=tell.axis("size", "size", low=_SIZES[0], high=_SIZES[-1], scale="log"),
        y=tell.axis("time", "time", low=1 * MICRO, high=10.0, scale="log"),
        series=(curve,),
        points=(now,),
        handle="size",
        caption=tell.say("{{size}} in {{time}}; drag the handle."),
    )
'''

TEST = """from {package}.calculators.{room}.{name} import Inputs, solve


def test_{name}_takes_the_latency_and_the_size_over_the_bandwidth():
    found = solve(Inputs(size=100e6, bandwidth=50e9, latency=5e-6))
    assert found.time == 5e-6 + 100e6 / 50e9
"""

TOOL = """+++
title = "{title}"
question = "How long does it take to move this many bytes?"
summary = "One sentence for lists and search engines."
+++

[[{name}]]
"""

WORDS = """# The interface in '{language}': on the left a text as it stands there, on the right what
# a reader sees. A line that changes nothing can go. {{count}} and the like are filled in later.
"""
