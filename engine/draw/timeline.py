"""Spans on lanes over time, as marks."""

from engine.draw.bars import rules_above, x_grid
from engine.draw.frame import (
    CHAR,
    LANE_ROW,
    Box,
    Frame,
    Line,
    Picture,
    Words,
    inside,
    rows_frame,
    share,
    x_axis,
)
from engine.text import Display, show, words
from engine.views import Axis, Span, Timeline

_PHONE = 320.0  # pixels of a frame without margins on a phone


def frame_of(num_lanes: int, num_rules: int) -> Frame:
    """Return the frame of so many lanes; the rules' labels lie above it."""
    return rows_frame(num_lanes, LANE_ROW, top=6 + 17 * num_rules)


def picture(view: Timeline, display: Display) -> Picture:
    """Return the marks of the spans: lanes in the order given, what is exposed hatched."""
    rules = [rule for rule in view.rules if inside(share(view.axis, rule.at))]
    frame = frame_of(len(view.lanes), len(rules))
    marks, texts = x_axis(view.axis, frame, display)
    tops = {lane.key: row * LANE_ROW for row, lane in enumerate(view.lanes)}
    texts += [Words(0.0, tops[lane.key] + 15, lane.label) for lane in view.lanes]
    beds = [_bed(top) for top in tops.values()]
    boxes = [_box(span, view.axis, tops[span.lane]) for span in view.spans]
    lines, labels = rules_above(rules, view.axis, frame, display)
    return Picture(
        frame=frame,
        label=_summary(view, display),
        back=(*x_grid(view.axis, frame, display), *beds),
        boxes=tuple(boxes),
        front=(*marks, *_seams(boxes), *lines),
        words=(*texts, *_names(view, boxes), *labels),
    )


def _bed(top: float) -> Line:
    """Return the idle ground of a lane: hatched grey under the spans."""
    return Line(((0.0, top + 34), (1.0, top + 34)), "idle", "idle")


def _box(span: Span, axis: Axis, top: float) -> Box:
    ends = [min(max(share(axis, at), 0.0), 1.0) for at in (span.start, span.end)]
    return Box(ends[0], ends[1], top + 22, top + 46, span.color, 1.0, span.exposed)


def _seams(boxes: list[Box]) -> list[Line]:
    """Return a hairline of paper before each span that is wide enough to bear it."""
    return [
        Line(((box.x0, box.y0), (box.x0, box.y1)), "paper", "seam")
        for box in boxes
        if box.x1 - box.x0 > 0.008 and box.x0 > 0 and not box.hatched
    ]


def _names(view: Timeline, boxes: list[Box]) -> list[Words]:
    return [
        Words((box.x0 + box.x1) / 2, box.y0 + 16.5, span.label, "middle", 0.0, "paper", "inside")
        for span, box in zip(view.spans, boxes, strict=True)
        if not box.hatched and (box.x1 - box.x0) * _PHONE > CHAR * len(span.label) + 6
    ]


def _summary(view: Timeline, display: Display) -> str:
    def lane(key: str) -> str:
        spans = [span for span in view.spans if span.lane == key]
        busy = sum(span.end - span.start for span in spans)
        exposed = sum(span.end - span.start for span in spans if span.exposed)
        text = f"busy for {show(busy, view.axis.quantity, display)}"
        return text + (f", {show(exposed, view.axis.quantity, display)} exposed" if exposed else "")

    marked = [words(rule.label, display) for rule in view.rules]
    return (
        f"{view.title}. "
        + "; ".join(f"{one.label} {lane(one.key)}" for one in view.lanes)
        + "."
        + (f" Marked: {', '.join(marked)}." if marked else "")
    )
