"""Two-point fit: latency and bandwidth of a link from two measured messages."""

import math
from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import GBYTES_PER_SECOND, MEGABYTES, Number
from engine.basis.text import Text, say
from engine.basis.units import (
    BANDWIDTH,
    BYTES,
    GB,
    KB,
    MB,
    MICRO,
    SECONDS,
    SHARE,
    Bandwidth,
    Bytes,
    Quantity,
)
from engine.basis.views import Axis, Badge, Lines, Point, Receipt, Rule, Series, Value, View
from engine.formulas.bandwidth import FIT, HALF_SIZE, Fit, fit_two_points
from engine.formulas.communication import point_to_point_time

TITLE = "Two-point fit"
QUESTION = "Two measured messages: which latency and which bandwidth explain both?"
EQUATIONS = (FIT, HALF_SIZE)
PRESETS = {
    "A published text: 60 % and 90 % of 300 GB/s": {
        "first": 128 * MB,
        "first_bandwidth": 180 * GB,
        "second": 1 * GB,
        "second_bandwidth": 270 * GB,
    },
}
LOW, HIGH = 1 * KB, 100 * GB
_COLUMN = tuple(LOW * (HIGH / LOW) ** (i / 64) for i in range(65))


def _size(label: str) -> Number:
    return Number(label=label, unit=MEGABYTES, low=LOW, high=HIGH, scale="log")


def _speed(label: str) -> Number:
    return Number(label=label, unit=GBYTES_PER_SECOND, low=1e6, high=2000 * GB, scale="log")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Two rows of a benchmark's table: message size and the bandwidth it reached."""

    first: Annotated[float, _size("Small message")] = 1 * MB
    first_bandwidth: Annotated[float, _speed("Small message reached")] = 25 * GB
    second: Annotated[float, _size("Large message")] = 256 * MB
    second_bandwidth: Annotated[float, _speed("Large message reached")] = 48 * GB


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page; without finite numbers where no link fits."""
    try:
        fit = fit_two_points(
            inputs.first,
            inputs.first / inputs.first_bandwidth,
            inputs.second,
            inputs.second / inputs.second_bandwidth,
        )
        verdict = _consistent(inputs, fit)
    except ValueError as error:
        fit = Fit(latency=math.nan, bandwidth=math.nan, half_size=math.nan)
        verdict = Badge(
            text="Inconsistent",
            sentence=f"No link with one latency and one bandwidth gives both: {error}.",
            color="communication",
        )
    return {
        "latency": _value("Latency", fit.latency, SECONDS, "of an empty message", inputs, fit),
        "verdict": verdict,
        "bandwidth": _value(
            "Bandwidth", fit.bandwidth, BANDWIDTH, "of an endless message", inputs, fit
        ),
        "half_size": _value("Half of it at", fit.half_size, BYTES, "message size", inputs, fit),
        "curve": _curve(inputs, fit),
    }


def _value(
    label: str, value: float, quantity: Quantity, note: str, inputs: Inputs, fit: Fit
) -> Value:
    symbols = {
        "B": (fit.bandwidth, BANDWIDTH),
        "a": (fit.latency, SECONDS),
        "Sh": (fit.half_size, BYTES),
        "Sa": (inputs.first, BYTES),
        "S2": (inputs.second, BYTES),
        "Ta": (inputs.first / inputs.first_bandwidth, SECONDS),
        "T2": (inputs.second / inputs.second_bandwidth, SECONDS),
    }
    receipt = Receipt(
        equation=FIT,
        symbols=symbols,
        inputs={"Sa": "first", "S2": "second"},
        assumptions=(
            "Two points always lie on a line: only a third tells whether the model holds.",
            "Both bandwidths are size over time of one message between two GPUs.",
        ),
    )
    return Value(label=label, value=value, quantity=quantity, receipt=receipt, note=note)


def _consistent(inputs: Inputs, fit: Fit) -> Badge:
    small, large = sorted((inputs.first, inputs.second))
    reached = _bandwidth(fit, large) / fit.bandwidth
    if fit.latency > 100 * MICRO:
        return Badge(
            text="Doubtful",
            sentence=say(
                "A latency of {t} is far above what a network step costs: check the larger "
                "message, or what else shared the wire.",
                t=(fit.latency, SECONDS),
            ),
            color="communication",
        )
    return Badge(
        text="Consistent",
        sentence=say(
            "The small message of {s} spends {a} of its time on latency; the large one reaches "
            "{b} of the wire.",
            s=(small, BYTES),
            a=(fit.latency / point_to_point_time(small, fit.bandwidth, fit.latency), SHARE),
            b=(reached, SHARE),
        ),
        color="compute",
    )


def _bandwidth(fit: Fit, size: Bytes) -> Bandwidth:
    return size / point_to_point_time(size, fit.bandwidth, fit.latency)


def _curve(inputs: Inputs, fit: Fit) -> Lines:
    measured = (
        Point(key="first", label="small", x=inputs.first, y=inputs.first_bandwidth),
        Point(key="second", label="large", x=inputs.second, y=inputs.second_bandwidth),
    )
    fits = math.isfinite(fit.bandwidth)
    high = max(inputs.first_bandwidth, inputs.second_bandwidth, fit.bandwidth if fits else 0.0)
    label: Text = say("half at {s}", s=(fit.half_size, BYTES))
    return Lines(
        title="Bandwidth reached against message size",
        x=Axis(label="message", quantity=BYTES, low=LOW, high=HIGH, scale="log"),
        y=Axis(label="size over time", quantity=BANDWIDTH, low=0.0, high=high * 1.1),
        series=(
            Series(
                key="fit",
                label="fit",
                x=_COLUMN,
                y=tuple(_bandwidth(fit, size) for size in _COLUMN),
                color="communication",
            ),
        )
        if fits
        else (),
        points=measured,
        rules=(Rule(key="half", label=label, axis="x", at=fit.half_size),)
        if fits and LOW <= fit.half_size <= HIGH
        else (),
    )
