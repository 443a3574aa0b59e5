"""Time ruler: a logarithmic axis from nanoseconds to months."""

from math import log10

from engine.calculators.whole_runs.stack_explorer.events import Event, time_of, time_text
from engine.calculators.whole_runs.stack_explorer.inputs import Inputs
from engine.calculators.whole_runs.stack_explorer.names import EVENT_NAMES, LAYER_NAMES
from engine.core.outputs import Presenter
from engine.core.text import render_text, say
from engine.core.units import COUNT, DAY, HOUR, SECONDS, SHARE, Ratio, Seconds
from engine.core.views import (
    CalculatorLink,
    Cell,
    Citation,
    Frame,
    Receipt,
    Scene,
    Shape,
    Table,
    Value,
)

_WIDTH, _TOP, _LENGTH, _BOTTOM = 430.0, 26.0, 520.0, 40.0
_AXIS, _TEXT, _GAP = 92.0, 142.0, 23.0
# Powers of ten up to 100 seconds, then the times of clocks and calendars.
_TICKS: tuple[tuple[Seconds, str], ...] = (
    (1e-8, "10 ns"),
    (1e-7, "100 ns"),
    (1e-6, "1 µs"),
    (1e-5, "10 µs"),
    (1e-4, "100 µs"),
    (1e-3, "1 ms"),
    (1e-2, "10 ms"),
    (1e-1, "100 ms"),
    (1.0, "1 s"),
    (10.0, "10 s"),
    (100.0, "100 s"),
    (600.0, "10 min"),
    (HOUR, "1 h"),
    (10 * HOUR, "10 h"),
    (10 * DAY, "10 days"),
    (100 * DAY, "100 days"),
    (1000 * DAY, "1,000 days"),
)
_COLORS = {
    "link": "communication",
    "gpu": "compute",
    "collective": "communication",
    "step": "compute",
    "job": "memory",
}


def scene(inputs: Inputs, events: tuple[Event, ...], decades: Ratio) -> Scene:
    """Return the ruler with every event at its place; beyond the window they gather at its ends."""
    shown = [event for event in events if event.time > 0]
    at = {event.key: _ruler_position(inputs, event.time) for event in shown}
    label = dict(zip(at, _spread(list(at.values())), strict=True))
    shapes = [_line("axis", (_AXIS, _TOP), (_AXIS, _TOP + _LENGTH), "port c-ink")]
    shapes += _band(inputs, shown)
    shapes += _ticks(inputs)
    for key in EVENT_NAMES:
        event = next((candidate for candidate in shown if candidate.key == key), None)
        shapes += _marks(key, event, at.get(key, 0.0), label.get(key, 0.0), inputs)
    caption = say(
        "From {low} to {high}: {n} orders of magnitude.",
        low=(inputs.ruler_from, SECONDS),
        high=(inputs.ruler_to, SECONDS),
        n=(round(decades, 1), COUNT),
    )
    return Scene(
        title="Every time of the job on one ruler",
        width=_WIDTH,
        height=_TOP + _LENGTH + _BOTTOM,
        frames=(Frame(caption=caption, shapes=tuple(shapes)),),
        caption="Time runs downward, a tick about ten times the one above. Click an event: "
        "its name turns bold, and the table below explains it. The bar on the axis is the chosen "
        "layer of the stack.",
    )


def _ruler_position(inputs: Inputs, time: Seconds) -> float:
    low, high = log10(inputs.ruler_from), log10(inputs.ruler_to)
    share = (log10(time) - low) / (high - low)
    return _TOP + _LENGTH * min(max(share, 0.0), 1.0)


def _spread(wanted: list[float]) -> list[float]:
    """Return heights near the wanted heights (rising), at least a text line apart."""
    down: list[float] = []
    for y in wanted:
        down.append(max(y, down[-1] + _GAP) if down else y)
    limit = _TOP + _LENGTH + 12
    for i in range(len(down) - 1, -1, -1):
        down[i] = min(down[i], limit)
        limit = down[i] - _GAP
    return down


def _band(inputs: Inputs, shown: list[Event]) -> list[Shape]:
    """Return the bar from the first to the last event of the chosen layer."""
    ends = [_ruler_position(inputs, event.time) for event in shown if event.layer == inputs.layer]
    low, high = min(ends, default=_TOP), max(ends, default=_TOP)
    attributes = {
        "x": f"{_AXIS - 12:g}",
        "y": f"{low - 5:.1f}",
        "width": "8",
        "height": f"{high - low + 10:.1f}",
        "rx": "3",
        "class": "sent c-accent",
        "data-links": f"layer:{inputs.layer}",
    }
    return [Shape(key="band", tag="rect", attributes=attributes)]


def _ticks(inputs: Inputs) -> list[Shape]:
    """Return a tick and its time for every round time in the window."""
    low, high = inputs.ruler_from * (1 - 1e-9), inputs.ruler_to * (1 + 1e-9)
    shapes = []
    for slot, (time, written) in enumerate(_TICKS):
        inside = low <= time <= high
        y = _ruler_position(inputs, time) if inside else _TOP
        name = written if inside else ""
        shapes += [
            _line(f"k{slot}", (_AXIS - (5 if inside else 0), y), (_AXIS, y), "port c-muted"),
            _text(f"t{slot}", (_AXIS - 17, y + 4.5), name, ("c-muted", "end", 13.0)),
        ]
    return shapes


def _marks(key: str, event: Event | None, y: float, label: float, inputs: Inputs) -> list[Shape]:
    """Return the dot, the leader and the name of an event; hidden if the job has none."""
    if event is None:
        return [
            _leader(key, (_TOP, _TOP), "muted", "0"),
            _dot(key, _TOP, ("muted", "0", "3")),
            _text(f"n{key}", (_TEXT, _TOP), "", ("c-muted", "start", 14.5), f"event:{key}"),
        ]
    chosen = key == inputs.event
    color = "accent" if chosen else _COLORS[event.layer]
    inside = inputs.ruler_from * 0.999 <= event.time <= inputs.ruler_to * 1.001
    name = f"{event.name}  {render_text(time_text(event))}" + (
        "" if inside else ", beyond the ruler"
    )
    style = ("c-ink ruler-here" if chosen else "c-ink", "start", 14.5)
    return [
        _leader(key, (y, label), color, "0.8"),
        _dot(key, y, (color, "1", "6" if chosen else "4")),
        _text(f"n{key}", (_TEXT, label + 5), name, style, f"event:{key} layer:{event.layer}"),
    ]


def _leader(key: str, ends: tuple[float, float], color: str, opacity: str) -> Shape:
    y, label = ends
    attributes = {
        "d": f"M{_AXIS:g} {y:.1f}H{_AXIS + 10:g}L{_TEXT - 16:g} {label:.1f}H{_TEXT - 5:g}",
        "class": f"link c-{color}",
        "fill": "none",
        "style": "stroke-width:1.2",
        "opacity": opacity,
    }
    return Shape(key=f"e{key}", tag="path", attributes=attributes)


def _dot(key: str, y: float, look: tuple[str, str, str]) -> Shape:
    color, opacity, radius = look
    attributes = {
        "cx": f"{_AXIS:g}",
        "cy": f"{y:.1f}",
        "r": radius,
        "class": f"sent c-{color}",
        "opacity": opacity,
        "data-links": f"event:{key}",
        "data-set": _query(key),
    }
    return Shape(key=f"o{key}", tag="circle", attributes=attributes)


def _line(key: str, start: tuple[float, float], end: tuple[float, float], kind: str) -> Shape:
    names = ("x1", "y1", "x2", "y2")
    places = {name: f"{at:.1f}" for name, at in zip(names, (*start, *end), strict=True)}
    return Shape(key=key, tag="line", attributes=places | {"class": kind})


def _query(key: str) -> str:
    return f"stack_explorer.event={key}"


def _text(
    key: str, at: tuple[float, float], text: str, style: tuple[str, str, float], links: str = ""
) -> Shape:
    kind, anchor, size = style
    attributes = {
        "x": f"{at[0]:.1f}",
        "y": f"{at[1]:.1f}",
        "font-size": f"{size:g}",
        "text-anchor": anchor,
        "class": kind,
    }
    if links:
        attributes |= {"data-links": links, "data-set": _query(key.removeprefix("n"))}
    return Shape(key=key, tag="text", attributes=attributes, text=text)


def table(inputs: Inputs, events: tuple[Event, ...]) -> Table:
    """Return every event with its time; its name opens its explanation."""
    rows: list[tuple[Cell, ...]] = [
        (
            CalculatorLink(event.name, "stack_explorer", _query(event.key), keeps=True),
            time_text(event),
            say("{n}", n=(event.count, COUNT)) if event.count else "-",
            LAYER_NAMES[event.layer],
            event.tab,
        )
        for event in events
    ]
    return Table(
        title="The events in figures",
        columns=("Event", "Takes", "In a step, on one GPU", "Layer", "Tab"),
        rows=tuple(rows),
        links=tuple((f"event:{event.key}", f"layer:{event.layer}") for event in events),
    )


def panel(inputs: Inputs, events: tuple[Event, ...], step: Seconds) -> Table:
    """Return a table of facts about the chosen event."""
    event = next(candidate for candidate in events if candidate.key == inputs.event)
    place = events.index(event)
    after = events[min(place + 1, len(events) - 1)]
    rows: list[tuple[Cell, ...]] = [
        ("What it is", event.meaning),
        ("Takes", time_text(event)),
        ("What sets it", event.sets),
        ("Against a step", _step_comparison(event, step)),
        ("Next on the ruler", say(f"{after.name}, {{t}}", t=time_of(after))),
        ("The number", event.basis),
        ("Sources", Citation(event.sources) if event.sources else "none: assumed or computed"),
        ("Tab", event.tab),
    ]
    return Table(
        title="The event",
        columns=("Event", event.name),
        rows=tuple(rows),
        links=((f"event:{event.key}",),) * len(rows),
    )


def _step_comparison(event: Event, step: Seconds) -> Cell:
    if event.time <= 0:
        return "not in this job"
    if event.key == "step":
        return "it is the step"
    if event.time > step:
        return say("{n} steps long", n=(event.time / step, COUNT))
    if event.count:
        each = "{n} of them on one GPU, together {s} of the step if nothing hid them"
        share = event.count * event.time / step
        return say(each, n=(event.count, COUNT), s=(share, SHARE))
    return say("{n} of them would fill a step", n=(step / event.time, COUNT))


def time_value(present: Presenter, inputs: Inputs, events: tuple[Event, ...]) -> Value:
    """Return the time of the chosen event."""
    event = next(candidate for candidate in events if candidate.key == inputs.event)
    receipt = Receipt(assumptions=(event.meaning, event.basis), sources=event.sources)
    return present.value("event_time", note=event.name, receipt=receipt)
