"""Charts of overlap schedules: timelines, step bars, residue bars."""

from collections.abc import Iterable, Mapping

from engine.core.text import say
from engine.core.units import COUNT, SECONDS
from engine.core.views import Axis, Bar, Bars, Lane, Segment, Span, Timeline
from engine.form.overlap.inputs import SCHEDULES
from engine.simulate.overlap.schedule_step import (
    ScheduleOutcome,
    Stretch,
)
from engine.simulate.streams.exposed_time import SpanPart
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP

_NAMES = {COMPUTE: "compute", SCALE_UP: "NVLink", NETWORK: "network"}
# Parts of a step beyond computation: key, name, color.
RESIDUE = (
    ("inside", "inside layers", "communication"),
    ("data", "data parallelism", "data"),
    ("pipeline", "between stages", "parameters"),
    ("bubble", "bubble", "pipeline"),
    ("optimizer", "optimizer", "optimizer"),
    ("other", "host, slowest GPU", "muted"),
)
_PARTS = (("compute", "compute", "compute"), *RESIDUE)
_COMPUTING = ("forward", "backward", "optimizer")
_LABELS = {key: label for key, label, _ in RESIDUE} | {
    "forward": "forward",
    "backward": "backward",
}
_COLORS = {key: color for key, _, color in RESIDUE} | {"forward": "compute", "backward": "compute"}


def schedules_timeline(outcomes: Mapping[str, ScheduleOutcome]) -> Timeline:
    """Return the whole step under every schedule, two lanes each."""
    end = max(outcome.step for outcome in outcomes.values())
    return Timeline(
        title="The same step under five schedules",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=tuple(
            Lane(key=f"{name}:{kind}", label=text)
            for name, label in SCHEDULES.items()
            for kind, text in (("compute", label), ("waits", "waits"))
        ),
        spans=tuple(span for outcome in outcomes.values() for span in _drawn_stretches(outcome)),
        caption="The slowest stage of the pipeline: the parts of the estimate, in their order. "
        "Hatched: communication that it waits for. Hidden communication is not drawn.",
    )


def _drawn_stretches(outcome: ScheduleOutcome) -> Iterable[Span]:
    for number, stretch in enumerate(outcome.stretches):
        computing = stretch.key in _COMPUTING
        yield Span(
            key=f"{outcome.name} {number}",
            lane=f"{outcome.name}:{'compute' if computing else 'waits'}",
            start=stretch.start,
            end=stretch.end,
            label=_stretch_label(stretch),
            color=_COLORS[stretch.key],
            exposed=stretch.key in ("inside", "data", "pipeline"),
        )


def _stretch_label(stretch: Stretch) -> str:
    label = _LABELS[stretch.key]
    if not stretch.first:
        return label
    if stretch.first == stretch.last:
        return f"{label}, micro-batch {stretch.first}"
    return f"{label}, micro-batches {stretch.first}\N{EN DASH}{stretch.last}"


def schedule_timeline(outcome: ScheduleOutcome) -> Timeline:
    """Return the first micro-batches under one schedule, operation by operation."""
    parts, units = outcome.parts, outcome.work.layers
    end = max(part.end for part in parts)
    return Timeline(
        title=f"{SCHEDULES[outcome.name]}, operation by operation",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=tuple(Lane(key=name, label=_NAMES[name]) for name in outcome.streams),
        spans=tuple(_drawn(part, units, sharded=outcome.sharded) for part in parts),
        caption=say(
            "The first micro-batches of the slowest stage in {n} units. Of collectives inside "
            "layers only what the step waits for is drawn. Bubble, messages between stages, "
            "optimizer and host are left out here.",
            n=(units, COUNT),
        ),
        player=True,
    )


def _drawn(part: SpanPart, units: int, *, sharded: bool) -> Span:
    op = part.ran.op
    waits = tuple(dict.fromkeys(key for key in (*op.after, part.ran.waited_for) if key))
    return Span(
        key=part.key,
        lane=op.stream,
        start=part.start,
        end=part.end,
        label=_unit_label(op.label, units, sharded=sharded),
        color="compute" if op.stream == COMPUTE else "communication",
        exposed=part.exposed,
        links=op.links[:2],
        after=waits if part.number == 1 else (),
    )


def _unit_label(label: str, units: int, *, sharded: bool) -> str:
    """Return the label with the number of the unit; the last that is sharded holds the ends."""
    head, separator, number = label.rpartition("layer ")
    if not separator or not number.isdigit():
        return label
    if sharded and int(number) == units:
        return f"{head}embedding and output layer"
    return f"{head}unit {number}"


def step_bars(outcomes: Mapping[str, ScheduleOutcome]) -> Bars:
    """Return the step of every schedule, split into its parts."""
    high = max(outcome.step for outcome in outcomes.values())
    return Bars(
        title="A whole step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high * 1.05),
        bars=tuple(_bar(outcome, _PARTS) for outcome in outcomes.values()),
    )


def residue_bars(outcomes: Mapping[str, ScheduleOutcome]) -> Bars:
    """Return what every schedule waits for."""
    high = max(outcome.residue for outcome in outcomes.values())
    return Bars(
        title="What no schedule hides",
        axis=Axis(label="time beyond computing", quantity=SECONDS, low=0.0, high=high * 1.05),
        bars=tuple(_bar(outcome, RESIDUE) for outcome in outcomes.values()),
    )


def _bar(outcome: ScheduleOutcome, parts: tuple[tuple[str, str, str], ...]) -> Bar:
    return Bar(
        key=outcome.name,
        label=SCHEDULES[outcome.name],
        segments=tuple(
            Segment(key=key, label=label, value=float(getattr(outcome, key)), color=color)
            for key, label, color in parts
        ),
    )
