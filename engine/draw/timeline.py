"""Spans on lanes over time, as marks."""

from engine.basis.text import Display, show, words
from engine.basis.ticks import ticks
from engine.basis.views import Axis, Lane, Span, Timeline
from engine.draw.bars import rules_above, x_grid
from engine.draw.frame import (
    CHAR,
    WIDE,
    Box,
    Line,
    Picture,
    Words,
    inside,
    share,
    x_axis,
)
from engine.draw.lanes import CURVE_TICKS, Rows, frame_of, rows_of, short_name
from engine.draw.step_curves import curve_marks

_PHONE = 320.0  # pixels of a frame without margins on a phone
_CELL_CHAR = 6.6  # mean width of a character in a cell
_LEAST_BAR = 14  # pixels of a bar that can hold a text
_SPOKEN_LANES = 8  # up to so many lanes are told one by one


def picture(view: Timeline, display: Display) -> Picture:
    """Return the marks of the spans: lanes in the order given, what is exposed hatched."""
    rules = [rule for rule in view.rules if inside(share(view.axis, rule.at))]
    names = [lane.label for lane in view.lanes]
    curve_ticks = curve_texts(view, display)
    rows = rows_of(names, curve_ticks)
    frame = frame_of(names, num_rules=len(rules), curve_ticks=curve_ticks)
    marks, texts = x_axis(view.axis, frame, display)
    tops = {lane.key: row * rows.row for row, lane in enumerate(view.lanes)}
    boxes = [_box(span, view.axis, tops[span.lane], rows) for span in view.spans]
    lines, labels = rules_above(rules, view.axis, frame, display)
    grid, curves, names_of_curves = curve_marks(view, frame, display)
    return Picture(
        frame=frame,
        label=_summary(view, display),
        back=(*x_grid(view.axis, frame, display), *(_bed(t, rows) for t in tops.values()), *grid),
        boxes=tuple(boxes),
        curves=tuple(curves),
        front=(*marks, *_seams(boxes), *lines),
        words=(
            *texts,
            *_lane_names(view.lanes, rows),
            *_span_names(view, boxes, rows),
            *names_of_curves,
            *labels,
        ),
    )


def curve_texts(view: Timeline, display: Display) -> list[str]:
    """Return the texts at the curves' axis; none without curves."""
    axis = view.curve_axis
    return [text for _, text in ticks(axis, display, CURVE_TICKS)] if axis and view.curves else []


def _lane_names(lanes: tuple[Lane, ...], rows: Rows) -> list[Words]:
    if not rows.beside:
        return [Words(0.0, row * rows.row + 15, lane.label) for row, lane in enumerate(lanes)]
    middle = rows.top + rows.bar / 2 + 4.5
    return [
        Words(0.0, row * rows.row + middle, short_name(lane.label), "end", -8.0, "ink", "tick")
        for row, lane in enumerate(lanes)
        if row % rows.every == 0
    ]


def _bed(top: float, rows: Rows) -> Line:
    """Return the idle ground of a lane: hatched gray under the spans."""
    middle = top + rows.top + rows.bar / 2
    return Line(((0.0, middle), (1.0, middle)), "idle", "idle", rows.bar)


def _box(span: Span, axis: Axis, top: float, rows: Rows) -> Box:
    ends = [min(max(share(axis, at), 0.0), 1.0) for at in (span.start, span.end)]
    top += rows.top
    return Box(ends[0], ends[1], top, top + rows.bar, span.color, 1.0, span.exposed)


def _seams(boxes: list[Box]) -> list[Line]:
    """Return a hairline of paper before each span that is wide enough to bear it."""
    return [
        Line(((box.x0, box.y0), (box.x0, box.y1)), "paper", "seam")
        for box in boxes
        if box.x1 - box.x0 > 0.008 and box.x0 > 0 and not box.hatched
    ]


def _span_names(view: Timeline, boxes: list[Box], rows: Rows) -> list[Words]:
    """Return the names of the spans that have room for them, on a phone or only on wide pages."""
    if rows.bar < _LEAST_BAR:
        return []
    look, char, edge = ("cell", _CELL_CHAR, 2.0) if rows.beside else ("inside", CHAR, 6.0)
    middle = rows.bar / 2 + (4.0 if rows.beside else 4.5)
    names = []
    for span, box in zip(view.spans, boxes, strict=True):
        width, needed = box.x1 - box.x0, char * len(span.label) + edge
        wide = width * _PHONE <= needed
        if box.hatched or (wide and (width * (WIDE - rows.left) <= needed or not rows.beside)):
            continue
        at = (box.x0 + box.x1) / 2
        names.append(Words(at, box.y0 + middle, span.label, "middle", 0.0, "paper", look, wide))
    return names


def _summary(view: Timeline, display: Display) -> str:
    def text(seconds: float) -> str:
        return show(seconds, view.axis.quantity, display)

    busy = dict.fromkeys((lane.key for lane in view.lanes), 0.0)
    exposed = dict(busy)
    for span in view.spans:
        busy[span.lane] += span.end - span.start
        exposed[span.lane] += (span.end - span.start) * span.exposed
    if len(view.lanes) > _SPOKEN_LANES:
        least, most = min(busy.values()), max(busy.values())
        lanes = f"{len(view.lanes)} lanes, each busy for {text(least)} to {text(most)}"
    else:
        lanes = "; ".join(
            f"{lane.label} busy for {text(busy[lane.key])}"
            + (f", {text(exposed[lane.key])} exposed" if exposed[lane.key] else "")
            for lane in view.lanes
        )
    marked = [words(rule.label, display) for rule in view.rules]
    return (
        f"{view.title}. {lanes}."
        + (f" Marked: {', '.join(marked)}." if marked else "")
        + _curves_summary(view, display)
    )


def _curves_summary(view: Timeline, display: Display) -> str:
    axis = view.curve_axis
    if axis is None or not view.curves:
        return ""
    most = [
        f"{series.label} at most {show(max(series.y, default=0.0), axis.quantity, display)}"
        for series in view.curves
    ]
    return f" {axis.label}: {'; '.join(most)}."
