"""The pictures of the gradient sync lab."""

import math

from engine.calculators.moving_bytes.gradient_sync.inputs import ALGORITHMS, Inputs
from engine.calculators.moving_bytes.gradient_sync.result import Result
from engine.calculators.moving_bytes.gradient_sync.solved import HIGH, LOW, TOKENS_COLUMN
from engine.core.outputs import Presenter
from engine.core.units import Seconds
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series


def parts(present: Presenter, result: Result) -> Bars:
    """Return the all-reduce as its bandwidth part and its latency part."""
    rows = (
        ("bandwidth", "bandwidth part", result.bandwidth_part, "bandwidth part"),
        ("latency", "latency part", result.latency_part, "latency part"),
    )
    return _bars(present, "Two parts of one all-reduce", rows)


def algorithms(present: Presenter, result: Result) -> Bars:
    """Return the time of every algorithm for this gradient on these wires."""
    rows = tuple(
        (
            name,
            ALGORITHMS[name] + (" (in use)" if name == result.sync.algorithm else ""),
            time,
            "all-reduce",
        )
        for name, time in result.by_algorithm.items()
    )
    return _bars(present, "The same gradient by every algorithm", rows)


def _bars(present: Presenter, title: str, rows: tuple[tuple[str, str, Seconds, str], ...]) -> Bars:
    high = max(time for _, _, time, _ in rows)
    return Bars(
        title=title,
        axis=present.axis("all_reduce_time", "time", low=0.0, high=high * 1.18 or 1.0),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(Segment(key=key, label=part, value=time, color="communication"),),
            )
            for key, label, time, part in rows
        ),
    )


def efficiency_curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the share of the step that computes, over the tokens per GPU."""
    curve = result.curve()
    curves = (
        ("set", "as set", "compute", curve.as_set),
        ("ideal", "ideal", "ink", curve.ideal),
        ("blocking", "no overlap", "communication", curve.blocking),
    )
    return Lines(
        title="Efficiency against tokens per GPU",
        x=_tokens(present),
        y=present.axis("efficiency", "share of the step that computes", low=0.0, high=1.0),
        series=tuple(
            Series(key=key, label=label, x=TOKENS_COLUMN, y=y, color=color, dashed=key != "set")
            for key, label, color, y in curves
        ),
        points=(
            Point(
                key="now",
                label=present.say("{efficiency}"),
                x=inputs.tokens_per_gpu,
                y=result.efficiency,
            ),
        ),
        rules=_break_even_rule(present, result),
        handle="tokens_per_gpu",
        caption="Drag the handle along the axis, past the dashed line.",
    )


def required_curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the port speed that hides the all-reduce, over the tokens per GPU."""
    now, ports = result.required_bandwidth, zip(TOKENS_COLUMN, result.ports(), strict=True)
    # Where the part inside the node alone outlasts the backward pass, no port is fast enough.
    needed = [(t, port) for t, port in ports if math.isfinite(port)]
    have = result.port_speed
    low, high = (bound([have, *(port for _, port in needed)]) for bound in (min, max))
    x, y = zip(*needed, strict=True) if needed else ((), ())
    label = present.say("{required_bandwidth}")
    return Lines(
        title="Port speed that hides the all-reduce",
        x=_tokens(present),
        y=present.axis(
            "required_bandwidth",
            "per port, one way",
            low=10 ** math.floor(math.log10(low * 8)) / 8,
            high=10 ** math.ceil(math.log10(high * 8)) / 8,
            scale="log",
        ),
        series=(Series(key="needed", label="needed", x=x, y=y, color="communication"),),
        points=(Point(key="now", label=label, x=inputs.tokens_per_gpu, y=now),)
        if math.isfinite(now)
        else (),
        rules=(
            Rule(key="have", label=present.say("you have {port_speed}"), axis="y", at=have),
            *_break_even_rule(present, result),
        ),
        handle="tokens_per_gpu",
    )


def _tokens(present: Presenter) -> Axis:
    return present.axis("break_even_tokens", "tokens per GPU", low=LOW, high=HIGH, scale="log")


def _break_even_rule(present: Presenter, result: Result) -> tuple[Rule, ...]:
    at = result.break_even_tokens
    if not LOW <= at <= HIGH:
        return ()
    label = present.say("hidden from {break_even_tokens}")
    return (Rule(key="break_even", label=label, axis="x", at=at),)
