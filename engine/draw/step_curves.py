"""Curves under the lanes of a timeline, as marks: a value holds until the next one."""

import math
from dataclasses import replace

from engine.basis.text import Display
from engine.basis.ticks import ticks
from engine.basis.views import Axis, Series, Timeline
from engine.draw.frame import Frame, Line, Words, axis_name, base_line, inside, share
from engine.draw.lanes import CURVE_HEIGHT, CURVE_TICKS
from engine.draw.place import beside_curve, place

_SHORTEST = 1e-9  # a step shorter than this, either way, is one in the last bits only

Piece = tuple[tuple[float, float], ...]


def curve_marks(
    view: Timeline, frame: Frame, display: Display
) -> tuple[list[Line], list[Line], list[Words]]:
    """Return (grid, curves, texts) at the foot of the frame; nothing without curves."""
    axis = view.curve_axis
    if axis is None or not view.curves:
        return [], [], []
    top = frame.height - CURVE_HEIGHT
    grid, texts = _y_axis(axis, frame, display)
    pieces = [steps(view, series, axis) for series in view.curves]
    wishes = [
        beside_curve(max(found, key=len), _others(pieces, i), series.label, series.color)
        for i, (series, found) in enumerate(zip(view.curves, pieces, strict=True))
        if found
    ]
    named = place(wishes, [piece for found in pieces for piece in found], CURVE_HEIGHT)
    curves = [
        Line(tuple((x, y + top) for x, y in piece), s.color, "dashed" if s.dashed else "curve")
        for s, found in zip(view.curves, pieces, strict=True)
        for piece in found
    ]
    return [*grid, base_line(frame)], curves, [*texts, *(replace(w, y=w.y + top) for w in named)]


def steps(view: Timeline, series: Series, axis: Axis) -> list[Piece]:
    """Return the steps as shares of the width and pixels under the curves' top."""
    last = max((span.end for span in view.spans), default=view.axis.high)
    ends = [*series.x[1:], max(last, series.x[-1])] if series.x else []
    pieces: list[list[tuple[float, float]]] = [[]]
    for start, end, value in zip(series.x, ends, series.y, strict=True):
        x0, x1 = (min(max(share(view.axis, at), 0.0), 1.0) for at in (start, end))
        at = share(axis, value)
        if math.isnan(at):
            pieces.append([])
        elif x1 - x0 > _SHORTEST:
            y = CURVE_HEIGHT * (1 - min(max(at, 0.0), 1.0))
            held = pieces[-1] and abs(pieces[-1][-1][1] - y) < _SHORTEST
            pieces[-1] += [(x1, y)] if held else [(x0, y), (x1, y)]
    return [tuple(piece) for piece in pieces if piece]


def _others(pieces: list[list[Piece]], index: int) -> list[Piece]:
    return [piece for i, found in enumerate(pieces) if i != index for piece in found]


def _y_axis(axis: Axis, frame: Frame, display: Display) -> tuple[list[Line], list[Words]]:
    top = frame.height - CURVE_HEIGHT
    name = Words(0.0, top - 14, axis_name(axis), "start", -frame.left, "muted", "tick")
    grid, texts = [], [name]
    for value, text in ticks(axis, display, CURVE_TICKS):
        at = share(axis, value)
        if inside(at):
            y = top + CURVE_HEIGHT * (1 - at)
            line = min(math.floor(y) + 0.5, frame.height - 0.5)  # a hairline on whole pixels
            grid.append(Line(((0.0, line), (1.0, line)), "hairline", "grid"))
            texts.append(Words(0.0, y + 4.5, text, "end", -6.0, "muted", "tick"))
    return grid, texts
