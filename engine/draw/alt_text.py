"""Alternative text of charts for screen readers: title, extent and marks."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.core.numbers import Display, format_value
from engine.core.text import render_text
from engine.core.views import Axis, Bar, Bars, Chart, Heatmap, Lines, Point, Rule, Timeline

_MAX_LANES = 8  # up to so many lanes are told one by one


def chart_alt_text(view: Chart, display: Display) -> str:
    """Return the alternative text of a chart."""
    return _BY_TYPE[type(view)](view, display)


def axis_name(axis: Axis) -> str:
    """Return the label of an axis, with its scale if logarithmic."""
    return f"{axis.label} ({axis.scale})" if axis.scale == "log" else axis.label


def _marks_text(marks: Sequence[Point | Rule], display: Display) -> str:
    labels = [label for mark in marks if (label := render_text(mark.label, display))]
    return f" Marked: {', '.join(labels)}." if labels else ""


def _lines(view: Lines, display: Display) -> str:
    def extent(axis: Axis) -> str:
        low, high = (format_value(v, axis.quantity, display) for v in (axis.low, axis.high))
        return f"{axis_name(axis)} from {low} to {high}"

    return (
        f"{view.title}. Across: {extent(view.x)}; up: {extent(view.y)}. "
        f"Curves: {', '.join(s.label or axis_name(view.y) for s in view.series)}."
        + _marks_text([*view.points, *view.rules], display)
    )


def _bars(view: Bars, display: Display) -> str:
    def total(bar: Bar) -> str:
        return format_value(sum(part.value for part in bar.segments), view.axis.quantity, display)

    totals = "; ".join(f"{bar.label}: {total(bar)}" for bar in view.bars)
    return f"{view.title}. {totals}.{_marks_text(view.rules, display)}"


def _heatmap(view: Heatmap, display: Display) -> str:
    finite = [v for row in view.values for v in row if math.isfinite(v)] or [0.0]
    low, high = (
        format_value(value, view.quantity, display) for value in (min(finite), max(finite))
    )
    text = f"{view.title}. {view.y_label} down, {view.x_label} across; from {low} to {high}."
    return text + _marks_text(view.points, display)


def _timeline(view: Timeline, display: Display) -> str:
    def text(seconds: float) -> str:
        return format_value(seconds, view.axis.quantity, display)

    busy = dict.fromkeys((lane.key for lane in view.lanes), 0.0)
    exposed = dict(busy)
    for span in view.spans:
        if span.color == "idle":
            continue  # drawn waiting is no work
        busy[span.lane] += span.end - span.start
        exposed[span.lane] += (span.end - span.start) * span.exposed
    if len(view.lanes) > _MAX_LANES:
        least, most = min(busy.values()), max(busy.values())
        lanes = f"{len(view.lanes)} lanes, each busy for {text(least)} to {text(most)}"
    else:
        lanes = "; ".join(
            f"{lane.label} busy for {text(busy[lane.key])}"
            + (f", {text(exposed[lane.key])} exposed" if exposed[lane.key] else "")
            for lane in view.lanes
        )
    return f"{view.title}. {lanes}.{_marks_text(view.rules, display)}{_curves(view, display)}"


def _curves(view: Timeline, display: Display) -> str:
    axis = view.curve_axis
    if axis is None or not view.curves:
        return ""
    most = [
        f"{series.label} at most {format_value(max(series.y, default=0.0), axis.quantity, display)}"
        for series in view.curves
    ]
    return f" {axis.label}: {'; '.join(most)}."


_BY_TYPE: Mapping[type, Callable[[Any, Display], str]] = {
    Lines: _lines,
    Bars: _bars,
    Heatmap: _heatmap,
    Timeline: _timeline,
}
