"""Views as JSON data: rounded numbers, and texts in the reader's units."""

from collections.abc import Callable
from typing import Any

from engine.core.numbers import Display, format_value, other_system
from engine.core.parsing import exact_text
from engine.core.text import render_text
from engine.core.units import Quantity
from engine.core.views import (
    Advice,
    Badge,
    Challenge,
    Code,
    Formula,
    Grip,
    Scene,
    Series,
    Span,
    Table,
    Timeline,
    Value,
    View,
    table_texts,
)
from engine.draw.chart_json import (
    axis_json,
    bars_json,
    heatmap_json,
    json_number,
    lines_json,
    links_json,
    rules_json,
)
from engine.draw.fragments import (
    advice_fragment,
    badge_fragment,
    challenge_fragment,
    table_fragment,
)
from engine.draw.line_breaking import page_text
from engine.draw.scene import scene_json

# Timelines as JSON data; for the player also the dependencies of each span.

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
        **({"grips": [_grip(grip, display) for grip in view.grips]} if view.grips else {}),
    }


def _grip(grip: Grip, display: Display) -> dict[str, Any]:
    return {
        "input": grip.input,
        "lane": grip.lane,
        "at": json_number(grip.at),
        "notch": json_number(grip.notch),
        "label": grip.label,
        "text": render_text(grip.text, display),
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
    indices = {span.key: index for index, span in enumerate(view.spans)}
    after = [[indices[key] for key in span.after if key in indices] for span in view.spans]
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
    last = [max(indices, key=lambda index: view.spans[index].end, default=-1) for indices in after]
    before: dict[str, int] = {}
    for index in sorted(range(len(view.spans)), key=lambda index: view.spans[index].start):
        span = view.spans[index]
        on_lane = before.get(span.lane, -1)
        if on_lane >= 0 and abs(view.spans[on_lane].end - span.start) <= near:
            waited = last[index]
            if waited < 0 or view.spans[waited].end < span.start - near:
                last[index] = on_lane
        before[span.lane] = index
    return last


def view_json(view: View, display: Display) -> dict[str, Any]:
    """Return the view as JSON data with its `kind`."""
    kind = type(view).__name__.lower()
    return {"kind": kind, **_BY_KIND[kind](view, display)}


def _value(view: Value, display: Display) -> dict[str, Any]:
    return {
        "label": view.label,
        "value": json_number(view.value),
        "text": format_value(view.value, view.quantity, display),
        "also": other_system(view.value, view.quantity, display),
        "note": page_text(view.note, display),
        "basis": view.receipt.basis,
        "color": view.color,
    }


def _badge(view: Badge, display: Display) -> dict[str, Any]:
    sentence = render_text(view.sentence, display)
    html = badge_fragment(view, display)
    return {"text": view.text, "sentence": sentence, "color": view.color, "html": html}


def _scene(view: Scene, display: Display) -> dict[str, Any]:
    return {
        "title": view.title,
        "caption": page_text(view.caption, display),
        **scene_json(view, display),
    }


def _table(view: Table, display: Display) -> dict[str, Any]:
    cell_texts = table_texts(view, display)
    return {
        "title": view.title,
        "columns": list(view.columns),
        "rows": cell_texts,
        "caption": render_text(view.caption, display),
        "html": table_fragment(view, display, cell_texts),
    }


def _formula(view: Formula, display: Display) -> dict[str, Any]:
    return {
        "title": view.title,
        "equation": view.equation.name,
        "symbols": {k: format_value(v, q, display) for k, (v, q) in view.symbols.items()},
        "inputs": dict(view.inputs),
    }


def _advice(view: Advice, display: Display) -> dict[str, Any]:
    return {
        "title": view.title,
        "verdict": render_text(view.verdict, display),
        "now": json_number(view.now),
        "remedies": [
            {
                "key": r.key,
                "label": render_text(r.label, display),
                "change": {name: exact_text(value) for name, value in r.change.items()},
                "after": json_number(r.after),
            }
            for r in view.remedies
        ],
        "html": advice_fragment(view, display),
    }


def _challenge(view: Challenge, display: Display) -> dict[str, Any]:
    met = all(condition.met for condition in view.conditions)
    return {
        "title": view.title,
        "met": met,
        "start": {name: exact_text(value) for name, value in view.start.items()},
        "html": challenge_fragment(view, display),
    }


def _code(view: Code, _: Display) -> dict[str, Any]:
    return {"title": view.title, "language": view.language, "text": view.text}


_BY_KIND: dict[str, Any] = {
    "value": _value,
    "badge": _badge,
    "lines": lines_json,
    "bars": bars_json,
    "timeline": timeline_json,
    "heatmap": heatmap_json,
    "scene": _scene,
    "table": _table,
    "formula": _formula,
    "advice": _advice,
    "challenge": _challenge,
    "code": _code,
}
