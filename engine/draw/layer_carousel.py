"""The layers of a sharded model as boxes: which are gathered, which compute, pass by pass."""

from bisect import bisect_right
from functools import lru_cache

from engine.core.text import Text, say
from engine.core.text import words as written
from engine.core.units import BYTES, COUNT, SECONDS, Seconds
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import rect, text
from engine.simulate.data_parallel.sharded_step import Sharded
from engine.simulate.streams.streams import COMPUTE, Span

_WIDTH, _LEFT, _HIGH, _TOP = 430.0, 8.0, 74.0, 34.0
_Rooms = dict[int, list[tuple[Seconds, Seconds, Seconds]]]
_LOOK = {"sharded": "0.06", "gathering": "0.3", "gathered": "0.55", "computing": "0.85"}


def carousel(ran: Sharded) -> Scene:
    """Return one frame for every pass of every unit of the first micro-batch."""
    units = ran.work.work.layers
    passes = [
        span
        for span in ran.spans
        if span.op.stream == COMPUTE and span.op.key[0] in "FB" and _micro(span) == 0
    ]
    rooms = _rooms(ran)
    frames = tuple(_frame(ran, now, units, rooms) for now in passes)
    return Scene(
        title="Which layers are there",
        width=_WIDTH,
        height=_TOP + _HIGH + 106,
        frames=frames,
        caption="A box is a layer. Empty: only this GPU's share is there. Orange: its "
        "parameters are on their way. Full: they are all there. Blue: computing.",
    )


def _micro(span: Span) -> int:
    return int(span.op.key[1:].partition(".")[0])


def _unit(span: Span) -> int:
    return int(span.op.key.partition(".")[2])


def _frame(ran: Sharded, now: Span, units: int, rooms: _Rooms) -> Frame:
    middle = now.start + (now.end - now.start) / 2
    states = [_state(rooms.get(unit, []), middle) for unit in range(units)]
    states[_unit(now)] = "computing"
    shapes: list[Shape] = [
        text("input", _LEFT, 20, 14, "input", "start"),
        text("output", _WIDTH - _LEFT, 20, 14, "output", "end"),
    ]
    for unit, state in enumerate(states):
        shapes += _box(unit, units, state)
    held = ran.memory[bisect_right(ran.memory, middle, key=lambda step: step[0]) - 1][1]
    there = sum(state != "sharded" for state in states)
    shapes += _bar(ran, held)
    return Frame(caption=_caption(ran, now, there), shapes=tuple(shapes))


@lru_cache(maxsize=4096)
def _box(unit: int, units: int, state: str) -> tuple[Shape, Shape]:
    """Return the box of a layer and its number, if there is room for that."""
    wide = (_WIDTH - 2 * _LEFT) / units
    corner = (_LEFT + unit * wide + 1, _TOP)
    color = {"computing": "compute", "gathering": "communication"}.get(state, "parameters")
    more = (("fill-opacity", _LOOK[state]),)
    box = rect(f"u{unit}", corner, (max(wide - 2, 1), _HIGH), f"cell c-{color}", more)
    every = max(1, round(24 / wide))
    name = f"{unit + 1}" if unit % every == every - 1 or units <= 16 else ""
    return box, text(f"n{unit}", corner[0] + wide / 2 - 1, _TOP + _HIGH + 16, 13, name)


def _rooms(ran: Sharded) -> _Rooms:
    """Return for each layer when its gathers of the first micro-batch start, end and are freed."""
    spans = {span.op.key: span for span in ran.spans}
    found: _Rooms = {}
    for key, span in spans.items():
        name, mark, rest = key.partition(":")
        if mark and rest == "parameters" and name[1:].startswith("0."):
            layer = int(name.partition(".")[2])
            found.setdefault(layer, []).append((span.start, span.end, ran.freed(key, spans)))
    return found


def _state(rooms: list[tuple[Seconds, Seconds, Seconds]], middle: Seconds) -> str:
    """Return what a layer's parameters do in the middle of a pass of another."""
    for start, end, freed in rooms:
        if start <= middle < end:
            return "gathering"
        if end <= middle < freed:
            return "gathered"
    return "sharded"


def _bar(ran: Sharded, held: float) -> list[Shape]:
    top = _TOP + _HIGH + 54
    wide = _WIDTH - 2 * _LEFT
    most = max(ran.peak, 1.0)
    label = written(say("{m} of states and buffers", m=(held, BYTES)))
    return [
        text("held", _LEFT, top - 10, 14, label, "start"),
        rect("room", (_LEFT, top), (wide, 16), "port", ()),
        rect("fill", (_LEFT, top), (wide * held / most, 16), "sent c-buffers", ()),
        text(
            "peak",
            _WIDTH - _LEFT,
            top + 36,
            14,
            written(say("at most {m}", m=(ran.peak, BYTES))),
            "end",
        ),
    ]


def _caption(ran: Sharded, now: Span, there: int) -> Text:
    way = "Backward" if now.op.key[0] == "B" else "Forward"
    waited = now.waited_for.endswith(":parameters")
    idle = "It had to wait for its parameters. " if waited else ""
    return say(
        f"{way} pass of layer {_unit(now) + 1}, from {{s}}. {idle}Parameters of {{n}} layers are "
        "there or on their way.",
        s=(now.start, SECONDS),
        n=(there, COUNT),
    )
