"""Curves over a common axis, as marks."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from engine.basis.text import Display, show, words
from engine.basis.ticks import ticks
from engine.basis.views import Axis, Lines, Rule, Series
from engine.draw.frame import (
    LINES,
    TYPICAL,
    Frame,
    Line,
    Picture,
    Ring,
    Words,
    axis_name,
    base_line,
    inside,
    share,
    x_axis,
)
from engine.draw.keys import KEY_ROW, key_marks, num_rows
from engine.draw.place import Wish, beside_curve, beside_point, beside_rule, place

EDGE = 1e-9  # so that the last bits of a number decide nothing at the frame's edges

_MANY = 4  # curves; the names of more would run into one another

Piece = tuple[tuple[float, float], ...]


def frame_of(names: Sequence[str]) -> Frame:
    """Return the frame for curves of these names, which are keys above it if they are many."""
    rows = num_rows(names, TYPICAL) if len(names) > _MANY else 0
    return replace(LINES, top=LINES.top + KEY_ROW * rows)


def picture(view: Lines, display: Display) -> Picture:
    """Return the marks of the curves, their names, the rules and the points."""
    frame = frame_of([s.label for s in view.series])
    keys = [(s.label, s.color, _look(s)) for s in view.series if len(view.series) > _MANY]
    height = frame.height
    pieces = [
        clip([_spot(view, x, y) for x, y in zip(s.x, s.y, strict=True)], height)
        for s in view.series
    ]
    back, y_texts = _y_axis(view.y, display)
    ticks_x, x_texts = x_axis(view.x, LINES, display)
    rules = [(rule, _rule_at(view, rule)) for rule in view.rules]
    rules = [(rule, at) for rule, at in rules if 0 <= at <= (1 if rule.axis == "x" else height)]
    spots = [(point, *_spot(view, point.x, point.y)) for point in view.points]
    spots = [(p, x, y) for p, x, y in spots if 0 <= x <= 1 and 0 <= y <= height]
    wishes: list[Wish] = [
        *(beside_rule(r.axis, at, height, words(r.label, display), r.color) for r, at in rules),
        *(beside_point(x, y, words(p.label, display), p.color) for p, x, y in spots),
        *(
            beside_curve(max(found, key=len), _others(pieces, i), s.label, s.color)
            for i, (s, found) in enumerate(zip(view.series, pieces, strict=True))
            if found and not keys
        ),
    ]
    straight = [_rule_line(rule, at, height) for rule, at in rules]
    drops = [_drop(x, y, p.color) for p, x, y in spots[:1] if view.handle]
    obstacles = [*(p for found in pieces for p in found), *(line.points for line in straight)]
    obstacles += [_handle(drop.points[1]) for drop in drops]
    swatches, names = key_marks(keys, frame.top, TYPICAL)
    return Picture(
        frame=frame,
        label=_summary(view, display),
        back=(*back, base_line(frame)),
        curves=tuple(
            Line(piece, s.color, _look(s))
            for s, found in zip(view.series, pieces, strict=True)
            for piece in found
        ),
        front=(*ticks_x, *swatches, *straight, *drops),
        rings=tuple(Ring(x, y, p.color) for p, x, y in spots),
        words=(*y_texts, *x_texts, *names, *place(wishes, obstacles, height)),
    )


def _look(series: Series) -> str:
    return "dashed" if series.dashed else "curve"


def _others(pieces: Sequence[Sequence[Piece]], index: int) -> list[Piece]:
    return [piece for i, found in enumerate(pieces) if i != index for piece in found]


def _spot(view: Lines, x: float, y: float) -> tuple[float, float]:
    return share(view.x, x), LINES.height * (1 - share(view.y, y))


def _rule_at(view: Lines, rule: Rule) -> float:
    if rule.axis == "x":
        return share(view.x, rule.at)
    return LINES.height * (1 - share(view.y, rule.at))


def _rule_line(rule: Rule, at: float, height: float) -> Line:
    ends = ((at, 0.0), (at, height)) if rule.axis == "x" else ((0.0, at), (1.0, at))
    return Line(ends, rule.color, "rule")


def _drop(x: float, y: float, color: str) -> Line:
    """Return the line from the reader's point down to the handle on the axis."""
    return Line(((x, y), (x, LINES.height)), color, "drop")


def _handle(foot: tuple[float, float]) -> Piece:
    """Return a line through the handle at a drop's foot, which no text may hide behind."""
    x, y = foot
    return (x - 12 / TYPICAL, y - 4), (x + 12 / TYPICAL, y - 4)


def _y_axis(axis: Axis, display: Display) -> tuple[list[Line], list[Words]]:
    grid, texts = [], [Words(0.0, -15, axis_name(axis), "start", -LINES.left, "muted", "tick")]
    for value, text in ticks(axis, display):
        y = LINES.height * (1 - share(axis, value))
        if inside(y / LINES.height):
            line = min(math.floor(y) + 0.5, LINES.height - 0.5)  # a hairline on whole pixels
            grid.append(Line(((0.0, line), (1.0, line)), "hairline", "grid"))
            texts.append(Words(0.0, y + 4.5, text, "end", -6.0, "muted", "tick"))
    return grid, texts


def clip(points: Sequence[tuple[float, float]], height: float) -> list[Piece]:
    """Return the parts of a polyline inside the frame; a NaN interrupts it."""
    pieces: list[Piece] = []
    piece: list[tuple[float, float]] = []
    placed = [(_at_edge(x, 1.0), _at_edge(y, height)) for x, y in points]
    for start, end in itertools.pairwise(placed):
        cut = _cut(start, end, height)
        if cut is None or (piece and piece[-1] != cut[0]):
            pieces += [tuple(piece)] if piece else []
            piece = []
        if cut is not None:
            piece = [*(piece or cut[:1]), cut[1]]
    return [*pieces, tuple(piece)] if piece else pieces


def _at_edge(at: float, high: float) -> float:
    """Return the edge that a coordinate misses by its last bits only, else the coordinate."""
    return next((edge for edge in (0.0, high) if abs(at - edge) < EDGE), at)


def _cut(
    start: tuple[float, float], end: tuple[float, float], height: float
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return the part of a straight line inside the frame (Liang and Barsky 1984)."""
    if not all(math.isfinite(number) for number in (*start, *end)):
        return None
    first, last = 0.0, 1.0
    for a, b, high in ((start[0], end[0], 1.0), (start[1], end[1], height)):
        low, step = 0.0, b - a
        if step == 0:
            if not low <= a <= high:
                return None
            continue
        near, far = sorted(((low - a) / step, (high - a) / step))
        first, last = max(first, near), min(last, far)
    if first > last:
        return None
    return _between(start, end, first), _between(start, end, last)


def _between(
    start: tuple[float, float], end: tuple[float, float], part: float
) -> tuple[float, float]:
    if part in (0.0, 1.0):
        return end if part else start
    return start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part


def _summary(view: Lines, display: Display) -> str:
    def extent(axis: Axis) -> str:
        low, high = (show(v, axis.quantity, display) for v in (axis.low, axis.high))
        return f"{axis_name(axis)} from {low} to {high}"

    labels = [p.label for p in view.points] + [r.label for r in view.rules]
    marked = [words(label, display) for label in labels]
    return (
        f"{view.title}. Across: {extent(view.x)}; up: {extent(view.y)}. "
        f"Curves: {', '.join(s.label for s in view.series)}."
        + (f" Marked: {', '.join(marked)}." if marked else "")
    )
