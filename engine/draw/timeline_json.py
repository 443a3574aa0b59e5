"""Timelines as JSON data; for the player also the dependencies of each span."""

from collections.abc import Callable
from typing import Any

from engine.core.numbers import Display, format_value
from engine.core.units import Quantity
from engine.core.views import Series, Span, Timeline
from engine.draw.chart_json import axis_json, json_number, links_json, rules_json
from engine.draw.line_breaking import page_text

_CURVE_TICKS = 4  # of the axis of the curves under the lanes, which is low
_FINE_TICKS = 48  # for a part of the axis, drawn large
_TOUCH = 1e-9  # of the axis: spans closer than this touch

Write = Callable[[float], str]


def timeline_json(view: Timeline, display: Display) -> dict[str, Any]:
    """Return lanes, spans and curves; `finer` ticks, times and waiting only for a player."""
    write = _writer(view.axis.quantity, display)
    has_curves = view.curve_axis is not None and bool(view.curves)
    return {
        "title": view.title,
        "caption": page_text(view.caption, display),
        "axis": axis_json(view.axis, display),
        "lanes": [
            {"key": lane.key, "label": lane.label, **links_json(lane.links)} for lane in view.lanes
        ],
        "spans": [_span(span, write) for span in view.spans],
        "rules": rules_json(view.rules, display),
        "curves": [_curve(series) for series in view.curves] if has_curves else [],
        "curve_axis": axis_json(view.curve_axis, display, _CURVE_TICKS)
        if view.curve_axis is not None and has_curves
        else None,
        "keys": view.keys,
        "player": _player(view, write, display) if view.player else None,
    }


def _writer(quantity: Quantity, display: Display) -> Write:
    """Return a caching formatter: many spans have equal lengths."""
    known: dict[float | None, str] = {}
    exactly: dict[float, str] = {}

    def write(value: float) -> str:
        text = exactly.get(value)
        if text is None:
            key = json_number(value)
            if key not in known:
                known[key] = format_value(value, quantity, display)
            text = exactly[value] = known[key]
        return text

    return write


def _span(span: Span, write: Write) -> dict[str, Any]:
    return {
        "key": span.key,
        "lane": span.lane,
        "start": json_number(span.start),
        "end": json_number(span.end),
        "label": span.label,
        "color": span.color,
        "exposed": span.exposed,
        "text": write(span.end - span.start),
        **({"called": span.called} if span.called else {}),
        **links_json(span.links),
    }


def _curve(series: Series) -> dict[str, Any]:
    return {
        "key": series.key,
        "label": series.label,
        "color": series.color,
        "dashed": series.dashed,
        "x": [json_number(x) for x in series.x],
        "y": [json_number(y) for y in series.y],
    }


def _player(view: Timeline, write: Write, display: Display) -> dict[str, Any]:
    """Return the player's data as lists by span index.

    `times` are (start, end) in words, `after` the spans it waited for, `waits` the one that let
    it start last, or -1: that may be the span before it on its lane.
    """
    places = {span.key: place for place, span in enumerate(view.spans)}
    after = [[places[key] for key in span.after if key in places] for span in view.spans]
    return {
        "finer": axis_json(view.axis, display, _FINE_TICKS)["ticks"],
        "times": [[write(span.start), write(span.end)] for span in view.spans],
        "after": after,
        "waits": last_dependencies(view, after),
    }


def last_dependencies(view: Timeline, after: list[list[int]]) -> list[int]:
    """Return for each span the index of the one it waited for last, or -1.

    Args:
        view: whose spans they are.
        after: for each span, the places of those it depends on.
    """
    near = _TOUCH * abs(view.axis.high - view.axis.low)
    last = [max(places, key=lambda place: view.spans[place].end, default=-1) for places in after]
    before: dict[str, int] = {}
    for place in sorted(range(len(view.spans)), key=lambda place: view.spans[place].start):
        span = view.spans[place]
        on_lane = before.get(span.lane, -1)
        if on_lane >= 0 and abs(view.spans[on_lane].end - span.start) <= near:
            waited = last[place]
            if waited < 0 or view.spans[waited].end < span.start - near:
                last[place] = on_lane
        before[span.lane] = place
    return last
