"""The pictures and tables of the modeler."""

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import (
    MOST_MICROBATCHES,
)
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, LINK_SPEED, SECONDS, SHARE
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series, Table
from engine.simulate.step.modeled_plan import ModeledPlan

# What a published calculator calls too low.
THRESHOLD = 0.8
_WAITS = (("bubble", "muted"), ("optimizer", "memory"), ("other", "ink"))


def bandwidths(plan: ModeledPlan) -> Bars:
    """Return each axis's required bandwidth, and the bandwidth of its link."""
    bars = []
    for axis in plan.axes:
        label = f"{axis.label} of {axis.ranks:,}"
        bars += [
            _bar(f"{axis.key}_needs", f"{label} needs", axis.required_bandwidth, axis.key),
            _bar(f"{axis.key}_has", f"{label} has, {axis.wire}", axis.bandwidth, "muted"),
        ]
    if not bars:
        bars = [_bar("none", "one GPU sends nothing", 0.0, "muted")]
    most = max(part.value for bar in bars for part in bar.segments) or 1.0
    return Bars(
        title="Bandwidth of a GPU, needed and available",
        axis=Axis(
            label="bandwidth per GPU, one way", quantity=LINK_SPEED, low=0.0, high=1.02 * most
        ),
        bars=tuple(bars),
        caption="Needed: what lets sending take no longer than computing. Available: what large "
        "messages were measured to reach on that link, less than its datasheet says.",
    )


def _bar(key: str, label: str, value: float, color: str) -> Bar:
    return Bar(
        key=key,
        label=label,
        segments=(Segment(key=key, label="bandwidth", value=value, color=color),),
    )


def axes(plan: ModeledPlan) -> Table:
    """Return bytes, messages, and times of every axis in words."""
    rows: list[tuple[Text, ...]] = [
        (
            f"{axis.label} of {axis.ranks:,}: {axis.description}",
            say("{b}", b=(axis.sent, BYTES)),
            say("{n}", n=(round(axis.messages), COUNT)),
            say("{e} of {t}", e=(axis.exposed, SECONDS), t=(axis.alone, SECONDS)),
        )
        for axis in plan.axes
    ]
    return Table(
        title="What a GPU sends in a step",
        columns=("Axis", "Bytes", "Messages", "Exposed, of alone"),
        rows=tuple(rows),
        caption="A GPU of a middle stage; with DP, of an end stage, which also sums the gradients "
        "of an embedding. Alone: the mean stage; exposed: what the step waits for, on the slowest. "
        "SP is not an axis of its own: it cuts the all-reduces of TP into two halves.",
    )


def breakdown(plan: ModeledPlan) -> Bars:
    """Return the step as planned, and with nothing hidden."""
    step = plan.step
    rest = [(key, key, getattr(step, key), color) for key, color in _WAITS]

    def bar(key: str, label: str, *, alone: bool) -> Bar:
        sent = [(a.key, a.label, a.alone if alone else a.exposed, a.key) for a in plan.axes]
        parts = [("compute", "compute", step.compute, "compute"), *sent, *rest]
        segments = [Segment(key=k, label=w, value=v, color=c) for k, w, v, c in parts]
        return Bar(key=key, label=label, segments=tuple(segments))

    bars = (bar("set", "as set", alone=False), bar("alone", "nothing hidden", alone=True))
    most = max(sum(part.value for part in bar.segments) for bar in bars)
    return Bars(
        title="Where a step goes, with and without overlap",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.02 * most),
        bars=bars,
    )


def utilization_curve(result: Result) -> Lines:
    """Return the share of the step that computes over the micro-batches: closed form and model."""
    plan = result.plan
    now = plan.step.compute / plan.step.total
    enough = THRESHOLD / (1 - THRESHOLD) * (result.stages - 1) / result.pieces
    rules = [Rule(key="threshold", label=say("{s}", s=(THRESHOLD, SHARE)), axis="y", at=THRESHOLD)]
    if 1 <= enough <= MOST_MICROBATCHES:
        label = say("from {m}", m=(enough, COUNT))
        rules.append(Rule(key="enough", label=label, axis="x", at=enough))
    return Lines(
        title="Share of the step that computes, against micro-batches",
        x=Axis(
            label="micro-batches of a step",
            quantity=COUNT,
            low=1,
            high=MOST_MICROBATCHES,
            scale="log",
        ),
        y=Axis(label="share of the step", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(
                key="closed",
                label="bubble alone",
                x=result.column,
                y=result.closed,
                color="ink",
                dashed=True,
            ),
            Series(
                key="model",
                label="step model",
                x=result.column,
                y=result.modeled(),
                color="compute",
            ),
        ),
        points=(Point(key="now", label=say("{e}", e=(now, SHARE)), x=result.microbatches, y=now),),
        rules=tuple(rules),
        handle="num_microbatches",
        caption="Drag the handle: more micro-batches make a larger batch.",
    )


def same_batch(result: Result) -> Table:
    """Return boundary traffic over the number of micro-batches at a fixed batch size."""
    rows: list[tuple[Text, ...]] = [
        (
            say("{m} of {b}", m=(cut.num_microbatches, COUNT), b=(cut.sequences, COUNT)),
            say("{v}", v=(2 * result.batch_sent, BYTES)),
            say("{n}", n=(2 * cut.num_microbatches, COUNT)),
            say("{l} of {t}", l=(cut.latencies, SECONDS), t=(cut.time, SECONDS)),
            say("{q}", q=(cut.bubble, SHARE)),
        )
        for cut in result.batch_cuts()
    ]
    return Table(
        title="The same batch in more micro-batches",
        columns=("Micro-batches", "Bytes", "Messages", "Latencies, of all", "Bubble"),
        rows=tuple(rows),
        caption="The first column: micro-batches of a replica, and the sequences of each. One "
        "step, one boundary, both ways; the bubble is a share of the step.",
    )
