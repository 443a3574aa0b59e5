"""Timeline of a step of the gradient sync lab on two streams."""

from collections.abc import Iterable

from engine.calculators.moving_bytes.gradient_sync.inputs import Inputs
from engine.calculators.moving_bytes.gradient_sync.result import Result
from engine.core.outputs import Presenter
from engine.core.units import SECONDS, Seconds
from engine.core.views import Axis, Lane, Rule, Span, Timeline
from engine.simulate.streams.backward import BucketSpan as StreamSpan

LANES = (Lane(key="compute", label="compute"), Lane(key="communication", label="network"))


def timeline(present: Presenter, inputs: Inputs, result: Result) -> Timeline:
    """Return the timeline of a step on two streams; with accumulation, of its last micro-batch."""
    computed = result.now.forward + result.now.backward
    halves = inputs.overlap and inputs.sharding == "zero1"
    if halves:
        spans, end = _zero_1_spans(result)
    else:
        step = result.streams()
        spans, end = _split_spans(step.spans, computed), step.total
    rule = Rule(key="computed", label="backward ends", axis="x", at=computed)
    return Timeline(
        title="One step" if inputs.accumulation == 1 else "The last micro-batch of a step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=LANES,
        spans=spans,
        rules=() if inputs.sharding == "zero1" else (rule,),
        caption=present.say(
            "{num_buckets} buckets, drawn in groups. What runs after the backward pass is exposed."
        ),
        player=True,
    )


def _zero_1_spans(result: Result) -> tuple[tuple[Span, ...], Seconds]:
    """Return a ZeRO-1 step: gather before and behind the forward pass, scatter behind backward."""
    step = result.halves()
    gather = _split_spans(step.gather, step.gathered, "gather, ", {"backward": "forward"})
    computed = step.gathered + result.now.backward
    return gather + _split_spans(step.scatter, computed, "scatter, ", at=step.gathered), step.total


def _split_spans(
    spans: Iterable[StreamSpan],
    computed: Seconds,
    prefix: str = "",
    words: dict[str, str] | None = None,
    at: Seconds = 0.0,
) -> tuple[Span, ...]:
    """Return the spans, cut where the backward pass ends: behind it, communication is exposed."""
    pieces: list[Span] = []
    for span in spans:
        label = span.label if span.stream == "compute" else prefix + span.label
        for old, new in (words or {}).items():
            label = label.replace(old, new)
        pieces += _split_span(span.stream, at + span.start, at + span.end, label, computed)
    return tuple(pieces)


def _split_span(
    lane: str, start: Seconds, end: Seconds, label: str, computed: Seconds
) -> list[Span]:
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
            after=_predecessors(lane, label) if begin == start else (),
        )
        for begin, stop, exposed in pieces
        if stop > begin
    ]


def _objects(label: str) -> tuple[str, ...]:
    """Return the group of buckets that a label ends with, as an object."""
    return (f"bucket:{label.split()[-1]}",) if "bucket" in label else ()


def _predecessors(lane: str, label: str) -> tuple[str, ...]:
    """Return the keys of the spans that must end first; empty for a group of buckets."""
    return (f"backward, {label}",) if lane != "compute" and label.startswith("bucket ") else ()
