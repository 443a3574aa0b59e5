"""The pictures of the gradient sync lab."""

import math
from collections.abc import Callable

from engine.basis.text import say
from engine.basis.units import LINK_SPEED, SECONDS, SHARE, TOKENS
from engine.basis.views import (
    Axis,
    Bar,
    Bars,
    Lane,
    Lines,
    Point,
    Rule,
    Segment,
    Series,
    Span,
    Timeline,
)
from engine.form.sync.inputs import ALGORITHMS, Inputs
from engine.form.sync.model import Passes, Sync, all_reduce_time, passes
from engine.form.sync.step import break_even, port_load, required_port
from engine.formulas.overlap import efficiency, required_bandwidth
from engine.simulate.backward import Step, blocking, overlapped

LOW, HIGH = 256, 1_048_576
_COLUMN = tuple(
    round(math.exp(math.log(LOW) + i / 72 * (math.log(HIGH) - math.log(LOW)))) for i in range(73)
)
LANES = (Lane(key="compute", label="compute"), Lane(key="communication", label="network"))


def parts(sync: Sync) -> Bars:
    """Return the all-reduce as its bandwidth part and its latency part."""
    bandwidth = sync.collective - sync.latency_part
    bars = (
        ("bandwidth", "bandwidth part", bandwidth),
        ("latency", "latency part", sync.latency_part),
    )
    return Bars(
        title="Two parts of one all-reduce",
        axis=_seconds("time", max(bandwidth, sync.latency_part)),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(Segment(key=key, label=label, value=value, color="communication"),),
            )
            for key, label, value in bars
        ),
    )


def algorithms(inputs: Inputs, sync: Sync) -> Bars:
    """Return the time of every algorithm for this gradient on these wires."""
    names = [n for n in ALGORITHMS if n not in ("auto", "hierarchical")]
    if inputs.gpus_per_node > 1 and sync.num_nodes > 1:
        names.insert(2, "hierarchical")
    times = {name: all_reduce_time(inputs, name, sync.size) for name in names}
    return Bars(
        title="The same gradient by every algorithm",
        axis=_seconds("time", max(times.values())),
        bars=tuple(
            Bar(
                key=name,
                label=ALGORITHMS[name] + (" (in use)" if name == sync.algorithm else ""),
                segments=(Segment(key=name, label="all-reduce", value=t, color="communication"),),
            )
            for name, t in times.items()
        ),
    )


def _seconds(label: str, high: float) -> Axis:
    return Axis(label=label, quantity=SECONDS, low=0.0, high=high * 1.18 or 1.0)


def timeline(inputs: Inputs, sync: Sync) -> Timeline:
    """Return one step on two streams; with accumulation, its last micro-batch."""
    bucket = sync.communication / sync.num_buckets
    if inputs.overlap and inputs.sharding == "zero1":
        spans, end = _zero1(sync, bucket / 2)
    else:
        run = overlapped if inputs.overlap else blocking
        step = run(sync.forward, sync.backward, sync.num_buckets, bucket, groups=12)
        spans, end = _spans(step, sync.forward + sync.backward), step.total
    computed = sync.forward + sync.backward
    rule = Rule(key="computed", label="backward ends", axis="x", at=computed)
    return Timeline(
        title="One step" if inputs.accumulation == 1 else "The last micro-batch of a step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=LANES,
        spans=spans,
        rules=() if inputs.sharding == "zero1" else (rule,),
        caption=say(
            "{n} buckets, drawn in groups. What sticks out past the backward pass is exposed.",
            n=(sync.num_buckets, TOKENS),
        ),
        player=True,
    )


def _spans(step: Step, computed: float) -> tuple[Span, ...]:
    spans: list[Span] = []
    for span in step.spans:
        spans += _cut(span.stream, span.start, span.end, span.label, computed)
    return tuple(spans)


def _cut(lane: str, start: float, end: float, label: str, computed: float) -> list[Span]:
    """Return the span, cut where the backward pass ends: behind it, communication is exposed."""
    pieces = [(start, min(end, computed), False), (max(start, computed), end, True)]
    if lane == "compute":
        pieces = [(start, end, False)]
    return [
        Span(
            key=f"{label}{' exposed' if exposed else ''}",
            lane=lane,
            start=begin,
            end=stop,
            label=label,
            color=lane,
            exposed=exposed,
            links=_objects(label),
            after=_waits(lane, label) if begin == start else (),
        )
        for begin, stop, exposed in pieces
        if stop > begin
    ]


def _objects(label: str) -> tuple[str, ...]:
    """Return the group of buckets that a label ends with, as an object."""
    return (f"bucket:{label.split()[-1]}",) if "bucket" in label else ()


def _waits(lane: str, label: str) -> tuple[str, ...]:
    """Return what has to end first; of a group of buckets, some start while others are computed."""
    return (f"backward, {label}",) if lane != "compute" and label.startswith("bucket ") else ()


def _zero1(sync: Sync, bucket: float) -> tuple[tuple[Span, ...], float]:
    """Return a ZeRO-1 step: gather before and behind the forward pass, scatter behind backward.

    The gather mirrors the scatter in time, so it is the same simulation played backwards.
    """
    gather = overlapped(0.0, sync.forward, sync.num_buckets, bucket, groups=6)
    scatter = overlapped(0.0, sync.backward, sync.num_buckets, bucket, groups=6)
    spans: list[Span] = []
    for span in reversed(gather.spans[1:]):
        name = span.label if span.stream == "compute" else f"gather, {span.label}"
        label = name.replace("backward", "forward")
        start, end = gather.total - span.end, gather.total - span.start
        spans += _cut(span.stream, start, end, label, gather.total)
    for span in scatter.spans[1:]:
        name = span.label if span.stream == "compute" else f"scatter, {span.label}"
        start, end = gather.total + span.start, gather.total + span.end
        spans += _cut(span.stream, start, end, name, gather.total + sync.backward)
    return tuple(spans), gather.total + scatter.total


def efficiency_curve(inputs: Inputs, sync: Sync) -> Lines:
    """Return the share of the step that computes, over the tokens per GPU."""
    wire = sync.collective, sync.communication, sync.num_buckets
    steps = [passes(inputs, tokens, *wire) for tokens in _COLUMN]
    now = efficiency(sync.compute, sync.exposed)
    curves: tuple[tuple[str, str, str, bool, Callable[[Passes], float]], ...] = (
        ("set", "as set", "compute", False, lambda s: s.exposed),
        ("ideal", "ideal overlap", "ink", True, lambda s: s.ideal_exposed),
        ("blocking", "no overlap", "communication", True, lambda _: sync.collective),
    )
    return Lines(
        title="Efficiency against tokens per GPU",
        x=_tokens(),
        y=Axis(label="share of the step that computes", quantity=SHARE, low=0.0, high=1.0),
        series=tuple(
            Series(
                key=key,
                label=label,
                x=_COLUMN,
                y=tuple(efficiency(s.compute, exposed(s)) for s in steps),
                color=color,
                dashed=dashed,
            )
            for key, label, color, dashed, exposed in curves
        ),
        points=(
            Point(key="now", label=say("{e}", e=(now, SHARE)), x=inputs.tokens_per_gpu, y=now),
        ),
        rules=_break_even_rule(inputs, sync),
        handle="tokens_per_gpu",
        caption="Drag the handle along the axis, past the dashed line.",
    )


def required_curve(inputs: Inputs, sync: Sync) -> Lines:
    """Return the port speed that hides the all-reduce, over the tokens per GPU."""
    through, inside = port_load(inputs, sync)
    per_token = sync.backward / inputs.tokens_per_gpu
    ports = ((t, required_bandwidth(through, per_token * t, inside)) for t in _COLUMN)
    # Where the part inside the node alone outlasts the backward pass, no port is fast enough.
    needed = [(t, port) for t, port in ports if math.isfinite(port)]
    have = inputs.scale_up if sync.num_nodes == 1 else inputs.port
    now = required_port(inputs, sync)
    low, high = (bound([have, *(port for _, port in needed)]) for bound in (min, max))
    point = Point(key="now", label=say("{b}", b=(now, LINK_SPEED)), x=inputs.tokens_per_gpu, y=now)
    return Lines(
        title="Port speed that hides the all-reduce",
        x=_tokens(),
        y=Axis(
            label="per port, one way",
            quantity=LINK_SPEED,
            low=10 ** math.floor(math.log10(low * 8)) / 8,
            high=10 ** math.ceil(math.log10(high * 8)) / 8,
            scale="log",
        ),
        series=(
            Series(
                key="needed",
                label="needed",
                x=tuple(t for t, _ in needed),
                y=tuple(port for _, port in needed),
                color="communication",
            ),
        ),
        points=(point,) if math.isfinite(now) else (),
        rules=(
            Rule(key="have", label=say("you have {b}", b=(have, LINK_SPEED)), axis="y", at=have),
            *_break_even_rule(inputs, sync),
        ),
        handle="tokens_per_gpu",
    )


def _tokens() -> Axis:
    return Axis(label="tokens per GPU", quantity=TOKENS, low=LOW, high=HIGH, scale="log")


def _break_even_rule(inputs: Inputs, sync: Sync) -> tuple[Rule, ...]:
    tokens = break_even(inputs, sync)
    if not LOW <= tokens <= HIGH:
        return ()
    label = say("hidden from {t}", t=(tokens, TOKENS))
    return (Rule(key="break_even", label=label, axis="x", at=tokens),)
