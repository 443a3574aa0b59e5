"""Two-point fit: latency and bandwidth of a link from two measured messages."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import GBYTES_PER_SECOND, MEGABYTES, Number
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.text import Text
from engine.core.units import GB, KB, MB, MICRO, Bandwidth, Bytes, Seconds, Share
from engine.core.views import Badge, Lines, Point, Rule, Series
from engine.formulas.bandwidth import FIT, HALF_SIZE, Fit, fit_two_points
from engine.formulas.communication import point_to_point_time

TITLE = "Two-point fit"
QUESTION = "Two measured messages: which latency and which bandwidth explain both?"
HEADLINE = "latency"
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
_DOUBTFUL: Seconds = 100 * MICRO
_ASSUMES = (
    "Two points always lie on a line: only a third tells whether the model holds.",
    "Both bandwidths are size over time of one message between two GPUs.",
)


def _size(label: str) -> Number:
    return Number(label=label, unit=MEGABYTES, low=LOW, high=HIGH, scale="log")


def _speed(label: str) -> Number:
    return Number(label=label, unit=GBYTES_PER_SECOND, low=1e6, high=2000 * GB, scale="log")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Two rows of a benchmark's table: message size and the bandwidth it reached."""

    first: Annotated[float, _size("Small message"), Symbol("Sa")] = 1 * MB
    first_bandwidth: Annotated[float, _speed("Small message reached")] = 25 * GB
    second: Annotated[float, _size("Large message"), Symbol("S2")] = 256 * MB
    second_bandwidth: Annotated[float, _speed("Large message reached")] = 48 * GB


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The link through both points; where there is none, no finite number and the reason."""

    latency: Annotated[Seconds, Output("Latency", "a", "of an empty message", assumes=_ASSUMES)]
    bandwidth: Annotated[
        Bandwidth, Output("Bandwidth", "B", "of a very large message", assumes=_ASSUMES)
    ]
    half_size: Annotated[Bytes, Output("Half of it at", "Sh", "message size", assumes=_ASSUMES)]
    first_time: Annotated[Seconds, Output(symbol="Ta")]
    second_time: Annotated[Seconds, Output(symbol="T2")]
    small: Bytes
    large: Bytes
    small_time: Seconds
    large_time: Seconds
    waiting: Share
    reached: Share
    curve: tuple[Bandwidth, ...]
    fits: bool


def solve(inputs: Inputs) -> Result:
    """Return the fitted link, and its times for both messages."""
    times = inputs.first / inputs.first_bandwidth, inputs.second / inputs.second_bandwidth
    fits = True
    try:
        fit = fit_two_points(inputs.first, times[0], inputs.second, times[1])
    except ValueError:
        fit = Fit(latency=math.nan, bandwidth=math.nan, half_size=math.nan)
        fits = False
    (small, quick), (large, slow) = sorted(zip((inputs.first, inputs.second), times, strict=True))
    return Result(
        latency=fit.latency,
        bandwidth=fit.bandwidth,
        half_size=fit.half_size,
        first_time=times[0],
        second_time=times[1],
        small=small,
        large=large,
        small_time=quick,
        large_time=slow,
        waiting=fit.latency / point_to_point_time(small, fit.bandwidth, fit.latency),
        reached=fit.reached(large) / fit.bandwidth,
        curve=tuple(map(fit.reached, _COLUMN)) if fits else (),
        fits=fits,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page; without finite numbers where no link fits."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    shown = {
        name: present.value(name, equation=FIT) for name in ("latency", "bandwidth", "half_size")
    }
    return {
        "latency": shown.pop("latency"),
        "verdict": _verdict(present, inputs, result),
        **shown,
        "curve": partial(_curve, present, inputs, result),
    }


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    small, large = sorted(("first", "second"), key=lambda name: float(getattr(inputs, name)))
    if not result.fits:
        why: Text = present.say(
            f"No link with one latency and one bandwidth: {_no_fit_reason(result)}.",
            small=small,
            large=large,
        )
        return Badge(text="Inconsistent", sentence=why, color="communication")
    if result.latency > _DOUBTFUL:
        sentence = present.say(
            "A latency of {latency} is far above what a network step costs: check the larger "
            "message, or what else shared the wire."
        )
        return Badge(text="Doubtful", sentence=sentence, color="communication")
    sentence = present.say(
        "The small message of {small} spends {waiting} of its time on latency; the large one "
        "reaches {reached} of the wire.",
        small=small,
    )
    return Badge(text="Consistent", sentence=sentence, color="compute")


def _no_fit_reason(result: Result) -> str:
    if result.small == result.large:
        return "both messages have {small}; two sizes are needed"
    if result.large_time <= result.small_time:
        return "{large} take {large_time}, no longer than {small} with {small_time}"
    return "from {small} to {large} the time grows more than the size, so that no latency is left"


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    bandwidths = inputs.first_bandwidth, inputs.second_bandwidth
    high = max(*bandwidths, result.bandwidth if result.fits else 0.0)
    fitted = Series(key="fit", label="fit", x=_COLUMN, y=result.curve, color="communication")
    half = Rule(key="half", label=present.say("half at {half_size}"), axis="x", at=result.half_size)
    return Lines(
        title="Bandwidth reached against message size",
        x=present.axis("half_size", "message", low=LOW, high=HIGH, scale="log"),
        y=present.axis("bandwidth", "size over time", low=0.0, high=high * 1.1),
        series=(fitted,) if result.curve else (),
        points=(
            Point(key="first", label="small", x=inputs.first, y=bandwidths[0]),
            Point(key="second", label="large", x=inputs.second, y=bandwidths[1]),
        ),
        rules=(half,) if LOW <= result.half_size <= HIGH else (),
    )
