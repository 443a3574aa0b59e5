"""Horizontal bars, as marks."""

from engine.draw.frame import (
    BAR_ROW,
    CHAR,
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
from engine.ticks import ticks
from engine.views import Axis, Bar, Bars, Rule

_SMALLEST = 320.0  # pixels of a frame on a phone: what fits there fits everywhere
KEY_ROW = 22


def frame_of(num_bars: int, *, parted: bool, num_rules: int) -> Frame:
    """Return the frame of so many bars; the keys of the parts and the rules' labels lie above."""
    keys = KEY_ROW if parted else 0
    return rows_frame(num_bars, BAR_ROW, top=6 + keys + 17 * num_rules)


def picture(view: Bars, display: Display) -> Picture:
    """Return the marks of the bars: the name above each, its total at the right end."""
    parted = any(len(bar.segments) > 1 for bar in view.bars)
    keys = {part.label: part.color for bar in view.bars for part in bar.segments if parted}
    rules = [rule for rule in view.rules if inside(share(view.axis, rule.at))]
    frame = frame_of(len(view.bars), parted=parted, num_rules=len(rules))
    marks, texts = x_axis(view.axis, frame, display)
    boxes: list[Box] = []
    for row, bar in enumerate(view.bars):
        boxes += _parts(bar, view.axis, row * BAR_ROW)
        total = sum(part.value for part in bar.segments)
        baseline = row * BAR_ROW + 15
        texts.append(Words(0.0, baseline, bar.label))
        amount = show(total, view.axis.quantity, display)
        texts.append(Words(1.0, baseline, amount, "end", 0.0, "ink", "strong"))
    swatches, names = _keys(keys, frame)
    lines, labels = rules_above(rules, view.axis, frame, display)
    return Picture(
        frame=frame,
        label=_summary(view, display),
        back=x_grid(view.axis, frame, display),
        boxes=tuple(boxes),
        front=(*marks, *swatches, *lines),
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


def _keys(keys: dict[str, str], frame: Frame) -> tuple[list[Line], list[Words]]:
    """Return a swatch and a name for every part, in a row above the frame.

    Their places are shares of the smallest frame, so that the row fits a phone.
    """
    swatches, texts, left = [], [], 0.0
    y = 6 - frame.top
    for label, color in keys.items():
        x = left / _SMALLEST
        swatches.append(Line(((x, y + 6), (x + 0.025, y + 6)), color, "swatch"))
        texts.append(Words(x + 0.025, y + 10.5, label, "start", 6.0))
        left += 24 + CHAR * len(label)
    return swatches, texts


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
