"""Time ruler: a logarithmic axis from nanoseconds to months."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log10

from engine.calculators.whole_runs.stack_explorer.inputs import EVENT_NAMES, LAYER_NAMES, Inputs
from engine.calculators.whole_runs.stack_explorer.result import Result
from engine.core.outputs import Presenter
from engine.core.text import Text, render_text, say
from engine.core.units import (
    COUNT,
    DAY,
    HOUR,
    SECONDS,
    Quantity,
    Ratio,
    Seconds,
    with_digits,
)
from engine.core.views import (
    CalculatorLink,
    Cell,
    Frame,
    Receipt,
    Scene,
    Shape,
    Table,
    Value,
)

# Events of the time ruler, with their times, sources and explanations.

Kind = tuple[str, str, str, str, Text, tuple[str, ...]]
_MODEL = "modeled"
_NCCL = ("nccl_tuning", "nccl_tests")
# Key: layer, tab, what it is, what sets it, what the number rests on, sources.
_EVENT_FACTS: Mapping[str, Kind] = {
    "memory": (
        "gpu",
        "Profiling",
        "A value is fetched from the memory of the GPU.",
        "Wires on the package; nothing that software can change, only hide.",
        "690 clock cycles measured on a GH200, at 1.98 GHz.",
        ("dewing",),
    ),
    "nvlink": (
        "link",
        "Waterfall",
        "A small message reaches another GPU of the node.",
        "NVLink, its switch, and the protocol for small messages (LL).",
        "What NCCL plans with.",
        _NCCL,
    ),
    "gap": (
        "gpu",
        "Profiling",
        "Nothing runs between the end of one small kernel and the start of the next.",
        "The GPU's front end; CUDA graphs shorten it.",
        "Assumed, as profiles of A100 and H100 show it.",
        (),
    ),
    "launch": (
        "collective",
        "Waterfall",
        "A collective's kernel starts and all its ranks have arrived.",
        "The host, the driver, and the last rank to arrive.",
        "Fitted to measured all-reduces of 8 GPUs.",
        ("nccl_tests",),
    ),
    "network": (
        "link",
        "Waterfall",
        "A message for large transfers goes from node to node once.",
        "PCIe, two network adapters, switches, cables, and a proxy on the host.",
        "Fitted to measured all-reduces over InfiniBand.",
        _NCCL,
    ),
    "gemm": (
        "gpu",
        "Profiling",
        "The largest matrix product of a layer, forward.",
        "The rate of the matrix units that such a product reaches.",
        "The cost model, fitted to published runs.",
        ("nvidia_matmul",),
    ),
    "tensor": (
        "collective",
        "Overlap",
        "The ranks of tensor parallelism gather the activations of one micro-batch.",
        "NVLink, as long as the group stays inside a node.",
        "The model of collectives, fitted to nccl-tests.",
        ("korthikanti2022", *_NCCL),
    ),
    "send": (
        "collective",
        "Topology",
        "Activations of one micro-batch go to the next stage of the pipeline.",
        "The port of one GPU.",
        "The model of collectives, fitted to nccl-tests.",
        ("narayanan2021",),
    ),
    "layer": (
        "step",
        "Profiling",
        "One layer computes forward for one micro-batch.",
        "Its products, and the attention between them.",
        "The cost model, fitted to published runs.",
        (),
    ),
    "optimizer": (
        "step",
        "Profiling",
        "Adam reads and writes its states once.",
        "The bandwidth of the memory; sharding makes the states smaller.",
        "The cost model, fitted to published runs.",
        ("rajbhandari2020",),
    ),
    "bucket": (
        "collective",
        "Overlap",
        "The gradients of one layer are reduced over the data-parallel ranks, alone.",
        "The ports of the group, or NVLink inside one node.",
        "The model of collectives, fitted to nccl-tests.",
        ("li2020", *_NCCL),
    ),
    "microbatch": (
        "step",
        "Overlap",
        "A stage computes one micro-batch forward and backward, with what it waits for inside.",
        "The layers of the stage, and the tokens of the micro-batch.",
        "The cost model, fitted to published runs.",
        ("narayanan2021",),
    ),
    "gradients": (
        "collective",
        "Overlap",
        "All gradients of a GPU are reduced over the data-parallel ranks, alone.",
        "Bytes over the bandwidth of the port. Most of it can hide behind the backward pass.",
        "The model of collectives, fitted to nccl-tests.",
        ("li2020", *_NCCL),
    ),
    "bubble": (
        "step",
        "Frontier",
        "A stage waits for the first and for the last micro-batch.",
        "Stages, virtual stages of each, and micro-batches per step.",
        "The cost model, fitted to published runs.",
        ("narayanan2021",),
    ),
    "step": (
        "step",
        "Frontier",
        "Forward, backward, reduction and update: the weights have changed once.",
        "Everything above on this axis.",
        "The cost model, fitted to published runs.",
        (),
    ),
    "checkpoint": (
        "job",
        "Frontier",
        "States are copied away while no step runs.",
        "Storage, and whether the copy goes on in the background.",
        "An input: assumed.",
        (),
    ),
    "restart": (
        "job",
        "Frontier",
        "From a failure until steps run again.",
        "Noticing it, replacing the node, loading, compiling.",
        "Assumed.",
        (),
    ),
    "interval": (
        "job",
        "Frontier",
        "The work between two checkpoints that loses least.",
        "The time of a checkpoint, and how often something fails.",
        "Daly's formula.",
        ("daly2006",),
    ),
    "mtbf": (
        "job",
        "Frontier",
        "Some GPU, cable or host of the job fails.",
        "The number of GPUs: twice as many fail twice as often.",
        "Unless you changed it: 419 unexpected interruptions in 54 days on 16,384 GPUs. Scaled to "
        "this job.",
        ("dubey2024",),
    ),
    "run": (
        "job",
        "Frontier",
        "All tokens have been seen, if nothing ever failed.",
        "Tokens over tokens per second.",
        "The cost model, fitted to published runs.",
        (),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Event on the time ruler.

    Attributes:
        key, name: of the event.
        time: how long it takes; 0 where this job has none.
        count: how often it happens in a step on one GPU; 0 where that means nothing.
        layer: of the stack.
        tab: of the explorer that goes into it.
        meaning, sets, basis: sentences.
        sources: keys of the bibliography.
    """

    key: str
    name: str
    time: Seconds
    count: float
    layer: str
    tab: str
    meaning: str
    sets: str
    basis: Text
    sources: tuple[str, ...]


def events(result: Result) -> tuple[Event, ...]:
    """Return the events of the job, shortest first, absent events last."""
    listed = [_event(key, result) for key in EVENT_NAMES]
    return tuple(sorted(listed, key=lambda event: (event.time <= 0, event.time)))


def _event(key: str, result: Result) -> Event:
    layer, tab, meaning, sets, basis, sources = _EVENT_FACTS[key]
    time = result.times[key]
    return Event(
        key=key,
        name=EVENT_NAMES[key],
        time=time,
        count=result.counts.get(key, 0.0) if time > 0 else 0.0,
        layer=layer,
        tab=tab,
        meaning=meaning,
        sets=sets,
        basis=basis,
        sources=sources,
    )


def time_text(event: Event) -> Text:
    """Return the time of an event, in words where the job has none."""
    return say("{t}", t=time_of(event)) if event.time > 0 else "not in this job"


def time_of(event: Event) -> tuple[Seconds, Quantity]:
    """Return an event's time; given or assumed times keep their few digits."""
    assumed = event.key in ("checkpoint", "restart")
    return event.time, with_digits(SECONDS) if assumed else SECONDS


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
        title="Every time of the job on one time axis",
        width=_WIDTH,
        height=_TOP + _LENGTH + _BOTTOM,
        frames=(Frame(caption=caption, shapes=tuple(shapes)),),
        caption="Time runs downward, a tick about ten times the one above. Choose an event: "
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
        "" if inside else ", beyond the axis"
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


def time_value(present: Presenter, inputs: Inputs, events: tuple[Event, ...]) -> Value:
    """Return the time of the chosen event."""
    event = next(candidate for candidate in events if candidate.key == inputs.event)
    receipt = Receipt(assumptions=(event.meaning, event.basis), sources=event.sources)
    return present.value("event_time", note=event.name, receipt=receipt)
