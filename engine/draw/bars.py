"""Horizontal bars, as marks."""

from collections.abc import Sequence

from engine.basis.text import Display, show, words
from engine.basis.ticks import ticks
from engine.basis.views import Axis, Bar, Bars, Rule
from engine.draw.frame import (
    BAR_ROW,
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
from engine.draw.keys import KEY_ROW, key_marks, num_rows

_PHONE = 320.0  # pixels of a frame without margins on a phone


def frame_of(num_bars: int, *, parts: Sequence[str], num_rules: int) -> Frame:
    """Return the frame of so many bars; the keys of the parts and the rules' labels lie above."""
    keys = KEY_ROW * num_rows(parts, _PHONE)
    return rows_frame(num_bars, BAR_ROW, top=6 + keys + 17 * num_rules)


def keys_of(view: Bars) -> dict[str, str]:
    """Return the color of every part's name, if colors say what the bars' own names do not."""
    parts = [(bar, part) for bar in view.bars for part in bar.segments]
    parted = any(len(bar.segments) > 1 for bar in view.bars)
    grouped = any(part.label != bar.label for bar, part in parts)
    if parted or (grouped and len({part.color for _, part in parts}) > 1):
        return {part.label: part.color for _, part in parts}
    return {}


def picture(view: Bars, display: Display) -> Picture:
    """Return the marks of the bars: the name above each, its total at the right end."""
    keys = keys_of(view)
    rules = [rule for rule in view.rules if inside(share(view.axis, rule.at))]
    frame = frame_of(len(view.bars), parts=list(keys), num_rules=len(rules))
    marks, texts = x_axis(view.axis, frame, display)
    boxes: list[Box] = []
    for row, bar in enumerate(view.bars):
        boxes += _parts(bar, view.axis, row * BAR_ROW)
        total = sum(part.value for part in bar.segments)
        baseline = row * BAR_ROW + 15
        texts.append(Words(0.0, baseline, bar.label))
        amount = show(total, view.axis.quantity, display)
        texts.append(Words(1.0, baseline, amount, "end", 0.0, "ink", "strong"))
    swatches, names = key_marks(
        [(label, color, "swatch") for label, color in keys.items()], frame.top, _PHONE
    )
    ranges = [line for row, bar in enumerate(view.bars) for line in _range(bar, view.axis, row)]
    lines, labels = rules_above(rules, view.axis, frame, display)
    return Picture(
        frame=frame,
        label=_summary(view, display),
        back=x_grid(view.axis, frame, display),
        boxes=tuple(boxes),
        front=(*marks, *swatches, *ranges, *lines),
        words=(*texts, *names, *labels),
    )


def x_grid(axis: Axis, frame: Frame, display: Display) -> tuple[Line, ...]:
    """Return the light vertical lines at the ticks."""
    places = [share(axis, value) for value, _ in ticks(axis, display)]
    return tuple(
        Line(((x, 0.0), (x, frame.height)), "hairline", "grid") for x in places if inside(x)
    )


def rules_above(
    rules: list[Rule], axis: Axis, frame: Frame, display: Display
) -> tuple[list[Line], list[Words]]:
    """Return the rules as dashed lines with their labels above the frame, one row each."""
    lines, labels = [], []
    for row, rule in enumerate(rules):
        x, y = share(axis, rule.at), -6.0 - 17 * row
        lines.append(Line(((x, y - 11), (x, frame.height)), rule.color, "rule"))
        align, dx = ("start", 6.0) if x < 0.6 else ("end", -6.0)
        labels.append(Words(x, y, words(rule.label, display), align, dx, rule.color))
    return lines, labels


def _parts(bar: Bar, axis: Axis, top: float) -> list[Box]:
    boxes, start = [], 0.0
    for part in bar.segments:
        ends = [min(max(share(axis, at), 0.0), 1.0) for at in (start, start + part.value)]
        boxes.append(Box(ends[0], ends[1], top + 22, top + 40, part.color))
        start += part.value
    return boxes


def _range(bar: Bar, axis: Axis, row: int) -> list[Line]:
    """Return the range that the bar's total may have: a thin line with two ends, if it has one."""
    if bar.low == bar.high:
        return []
    low, high = (min(max(share(axis, at), 0.0), 1.0) for at in (bar.low, bar.high))
    middle = row * BAR_ROW + 31.0
    ends = [((x, middle - 4), (x, middle + 4)) for x in (low, high)]
    lines = [((low, middle), (high, middle)), *ends]
    # On paper of their own, since the ink may be as pale as the bar.
    under = [Line(points, "paper", "tick", 3.0) for points in lines]
    return [*under, *(Line(points, "ink", "tick") for points in lines)]


def _summary(view: Bars, display: Display) -> str:
    def total(bar: Bar) -> str:
        return show(sum(part.value for part in bar.segments), view.axis.quantity, display)

    marked = [words(rule.label, display) for rule in view.rules]
    return (
        f"{view.title}. "
        + "; ".join(f"{bar.label}: {total(bar)}" for bar in view.bars)
        + "."
        + (f" Marked: {', '.join(marked)}." if marked else "")
    )
