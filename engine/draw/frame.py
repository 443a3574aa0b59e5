"""The frame of a chart and what is drawn in it: marks in one coordinate system for every kind.

A mark lies at x, a share of the frame's width, and y, pixels down from its top: the width follows
the page, the height is fixed. The static SVG and the live figure draw these same marks.
"""

import math
from dataclasses import dataclass

from engine.basis.text import Display
from engine.basis.ticks import ticks
from engine.basis.views import Axis

FONT_SIZE, TICK_SIZE = 13, 12
# Mean width of a character at these sizes, for what must be decided without a page.
CHAR, TICK_CHAR = 7.2, 6.3
TYPICAL = 256.0  # a frame's width on a phone: what fits there fits everywhere
WIDE = 690.0  # a chart's width from which on there is room for more texts
PHONE = 350.0  # a chart's width on a phone: texts that do not meet there meet nowhere
BEFORE = {"start": 0.0, "middle": 0.5, "end": 1.0}  # share of a text left of its x
STRIPES = (2, 4)  # drawn and left out, in pixels along a hatched bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Margins around the plot and its height, in pixels."""

    left: float
    right: float
    top: float
    bottom: float
    height: float

    @property
    def total(self) -> float:
        """The height with both margins."""
        return self.top + self.height + self.bottom


LINES = Frame(left=88, right=14, top=30, bottom=46, height=250)
BAR_ROW, LANE_ROW, CELL_ROW = 46, 54, 34


def rows_frame(num_rows: int, row: float, *, left: float = 2, top: float = 6) -> Frame:
    """Return the frame of a chart of `num_rows` rows of `row` pixels."""
    return Frame(left=left, right=2, top=top, bottom=46, height=max(1, num_rows) * row)


@dataclass(frozen=True, slots=True)
class Words:
    """A text.

    Attributes:
        dx: moves it by pixels.
        look: "tick", "label", "strong"; "inside" and "cell" in large and small boxes.
        wide: whether it is shown only where the chart is at least `WIDE` pixels wide.
    """

    x: float
    y: float
    text: str
    align: str = "start"
    dx: float = 0.0
    color: str = "ink"
    look: str = "label"
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A curve or a straight line.

    Attributes:
        look: "curve", "dashed", "rule", "drop", "grid", "axis", "tick", "seam", "swatch", "idle".
        width: pixels, where it is not the look's own.
    """

    points: tuple[tuple[float, float], ...]
    color: str
    look: str
    width: float = 0.0


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle; `hatched` lays stripes of paper over it."""

    x0: float
    x1: float
    y0: float
    y1: float
    color: str
    strength: float = 1.0
    hatched: bool = False


@dataclass(frozen=True, slots=True)
class Ring:
    """A marked point."""

    x: float
    y: float
    color: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """All marks of a chart, each group drawn over the one before.

    Attributes:
        label: the picture in words, for those who do not see it.
        back: grid and axes.
        boxes: bars, spans and cells.
        curves: the data's lines, cut at the frame.
        front: rules and ticks; may leave the frame.
    """

    frame: Frame
    label: str
    back: tuple[Line, ...] = ()
    boxes: tuple[Box, ...] = ()
    curves: tuple[Line, ...] = ()
    front: tuple[Line, ...] = ()
    rings: tuple[Ring, ...] = ()
    words: tuple[Words, ...] = ()


def share(axis: Axis, value: float) -> float:
    """Return where the value lies between the axis' ends, 0 to 1; NaN where it has no place."""
    if axis.scale == "log":
        if not (value > 0 and axis.low > 0) or value == math.inf:
            return math.nan
        low, high, at = math.log(axis.low), math.log(axis.high), math.log(value)
    else:
        low, high, at = axis.low, axis.high, value
    if not math.isfinite(at) or high <= low:
        return 0.5 if at == low else math.nan
    return (at - low) / (high - low)


def inside(x: float) -> bool:
    """Return whether a share lies in the frame, the last bits of a logarithm aside."""
    return -1e-9 <= x <= 1 + 1e-9


def end_align(x: float) -> str:
    """Return the alignment that keeps a text at `x` inside the frame."""
    return "start" if x < 0.04 else "end" if x > 0.94 else "middle"


def axis_name(axis: Axis) -> str:
    """Return the axis' label; a logarithmic axis says so."""
    return f"{axis.label} ({axis.scale})" if axis.scale == "log" else axis.label


def x_axis(axis: Axis, frame: Frame, display: Display) -> tuple[list[Line], list[Words]]:
    """Return the tick marks and texts under the frame."""
    marks: list[Line] = []
    texts: list[Words] = []
    width, free = PHONE - frame.left - frame.right, -PHONE
    for value, text in ticks(axis, display):
        x = share(axis, value)
        if not inside(x):
            continue
        x = min(max(x, 0.0), 1.0)
        marks.append(Line(((x, frame.height), (x, frame.height + 5)), "muted", "tick"))
        words = Words(x, frame.height + 22, text, end_align(x), 0.0, "muted", "tick")
        left = x * width - BEFORE[words.align] * TICK_CHAR * len(text)
        if left >= free:
            texts.append(words)
            free = left + TICK_CHAR * len(text) + 6
    name = axis_name(axis)
    texts.append(Words(1.0, frame.height + 41, name, "end", 0.0, "muted", "tick"))
    return marks, texts


def base_line(frame: Frame) -> Line:
    """Return the line at the foot of the frame."""
    y = frame.height - 0.5
    return Line(((0.0, y), (1.0, y)), "muted", "axis")
