"""Moves bytes over a link."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.equation import Equation
from engine.core.inputs import GBITS, MEGABYTES, Number
from engine.core.outputs import Views
from engine.core.units import BANDWIDTH, BYTES, MB, SECONDS, Gbit, Seconds
from engine.core.views import Axis, Badge, Lines, Receipt, Series, Value

TITLE = "Speed"
QUESTION = "How long?"
HEADLINE = "time"
TIME = Equation(
    name="move_time",
    tex=r"\v{T} = \frac{\v{S}}{\v{B}}",
    symbols={"T": ("T", "time"), "S": ("S", "size"), "B": (r"\beta", "bandwidth")},
    sources=("hockney1994",),
)
EQUATIONS = (TIME,)
PRESETS = {"Small": {"size": 1 * MB}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a reader can change."""

    size: Annotated[
        float, Number(label="Size", unit=MEGABYTES, low=1 * MB, high=1000 * MB, scale="log")
    ] = 100 * MB
    bandwidth: Annotated[
        float, Number(label="Link", unit=GBITS, low=1 * Gbit, high=1600 * Gbit, scale="log")
    ] = 400 * Gbit


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What follows."""

    time: Seconds


def solve(inputs: Inputs) -> Result:
    """Return the time."""
    return Result(time=inputs.size / inputs.bandwidth)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views."""
    symbols = {
        "T": (result.time, SECONDS),
        "S": (inputs.size, BYTES),
        "B": (inputs.bandwidth, BANDWIDTH),
    }
    receipt = Receipt(equation=TIME, symbols=symbols)
    x = Axis(label="Size", quantity=BYTES, low=1 * MB, high=1000 * MB, scale="log")
    y = Axis(label="Time", quantity=SECONDS, low=0, high=0.1)
    line = Series(key="time", label="time", x=(1e6, 1e9), y=(2e-5, 2e-2), color="communication")
    return {
        "time": Value(label="Time", value=result.time, quantity=SECONDS, receipt=receipt),
        "total": Value(label="Total", value=inputs.size, quantity=BYTES, receipt=Receipt()),
        "regime": Badge(text="slow", sentence="The link is slow."),
        "curve": Lines(title="Time by size", x=x, y=y, series=(line,), handle="size"),
    }
