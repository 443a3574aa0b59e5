"""A view as plain JSON data: every number tidied, every text already in the reader's units."""

import math
from typing import Any

from engine.draw.fragments import (
    advice_fragment,
    badge_fragment,
    challenge_fragment,
    table_fragment,
)
from engine.draw.scene import scene_json
from engine.text import Display, other_system, plain, show, words
from engine.ticks import ticks
from engine.views import (
    Advice,
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Code,
    Formula,
    Heatmap,
    Lines,
    Point,
    Rule,
    Scene,
    Table,
    Timeline,
    Value,
    View,
    cell_words,
)


def tidy(value: float) -> float | None:
    """Return the number with twelve significant digits, or None where it is not finite.

    The last bits of `log` or `pow` may differ between the C libraries of the reader's browser and
    of the build; twelve digits are the same everywhere.
    """
    return float(f"{value:.12g}") if math.isfinite(value) else None


def view_json(view: View, display: Display) -> dict[str, Any]:
    """Return the view as JSON data with its `kind`."""
    kind = type(view).__name__.lower()
    return {"kind": kind, **_BY_KIND[kind](view, display)}


def _value(view: Value, display: Display) -> dict[str, Any]:
    return {
        "label": view.label,
        "value": tidy(view.value),
        "text": show(view.value, view.quantity, display),
        "also": other_system(view.value, view.quantity, display),
        "note": words(view.note, display),
        "basis": view.receipt.basis,
        "color": view.color,
    }


def _badge(view: Badge, display: Display) -> dict[str, Any]:
    sentence = words(view.sentence, display)
    html = badge_fragment(view, display)
    return {"text": view.text, "sentence": sentence, "color": view.color, "html": html}


def _axis(axis: Axis, display: Display) -> dict[str, Any]:
    return {
        "label": axis.label,
        "low": tidy(axis.low),
        "high": tidy(axis.high),
        "scale": axis.scale,
        "ticks": [[tidy(value), text] for value, text in ticks(axis, display)],
    }


def _rules(rules: tuple[Rule, ...], display: Display) -> list[dict[str, Any]]:
    return [
        {
            "key": rule.key,
            "label": words(rule.label, display),
            "axis": rule.axis,
            "at": tidy(rule.at),
            "color": rule.color,
        }
        for rule in rules
    ]


def _point(point: Point, display: Display) -> dict[str, Any]:
    label = words(point.label, display)
    return {
        "key": point.key,
        "label": label,
        "x": tidy(point.x),
        "y": tidy(point.y),
        "color": point.color,
    }


def _lines(view: Lines, display: Display) -> dict[str, Any]:
    columns, texts = {}, {}
    for series in view.series:
        if series.x not in texts:
            texts[series.x] = [show(x, view.x.quantity, display) for x in series.x]
        columns[series.key] = {
            "x": [tidy(x) for x in series.x],
            "y": [tidy(y) for y in series.y],
            "x_text": texts[series.x],
            "y_text": [show(y, view.y.quantity, display) for y in series.y],
        }
    return {
        "title": view.title,
        "caption": words(view.caption, display),
        "handle": view.handle,
        "x": _axis(view.x, display),
        "y": _axis(view.y, display),
        "series": [
            {"key": s.key, "label": s.label, "color": s.color, "dashed": s.dashed}
            for s in view.series
        ],
        "columns": columns,
        "points": [_point(point, display) for point in view.points],
        "rules": _rules(view.rules, display),
    }


def _bar(bar: Bar, view: Bars, display: Display) -> dict[str, Any]:
    segments, start = [], 0.0
    for segment in bar.segments:
        segments.append(
            {
                "key": segment.key,
                "label": segment.label,
                "color": segment.color,
                "start": tidy(start),
                "end": tidy(start + segment.value),
                "text": show(segment.value, view.axis.quantity, display),
            }
        )
        start += segment.value
    total = show(start, view.axis.quantity, display)
    return {"key": bar.key, "label": bar.label, "text": total, "segments": segments}


def _bars(view: Bars, display: Display) -> dict[str, Any]:
    return {
        "title": view.title,
        "caption": words(view.caption, display),
        "axis": _axis(view.axis, display),
        "bars": [_bar(bar, view, display) for bar in view.bars],
        "rules": _rules(view.rules, display),
    }


def _timeline(view: Timeline, display: Display) -> dict[str, Any]:
    return {
        "title": view.title,
        "caption": words(view.caption, display),
        "axis": _axis(view.axis, display),
        "lanes": [{"key": lane.key, "label": lane.label} for lane in view.lanes],
        "spans": [
            {
                "key": span.key,
                "lane": span.lane,
                "start": tidy(span.start),
                "end": tidy(span.end),
                "label": span.label,
                "color": span.color,
                "exposed": span.exposed,
                "text": show(span.end - span.start, view.axis.quantity, display),
            }
            for span in view.spans
        ],
        "rules": _rules(view.rules, display),
    }


def _heatmap(view: Heatmap, display: Display) -> dict[str, Any]:
    return {
        "title": view.title,
        "caption": words(view.caption, display),
        "x_label": view.x_label,
        "y_label": view.y_label,
        "x": list(view.x),
        "y": list(view.y),
        "values": [[tidy(value) for value in row] for row in view.values],
        "texts": [[show(value, view.quantity, display) for value in row] for row in view.values],
    }


def _scene(view: Scene, display: Display) -> dict[str, Any]:
    return {
        "title": view.title,
        "caption": words(view.caption, display),
        **scene_json(view, display),
    }


def _table(view: Table, display: Display) -> dict[str, Any]:
    return {
        "title": view.title,
        "columns": list(view.columns),
        "rows": [[cell_words(cell, display) for cell in row] for row in view.rows],
        "caption": words(view.caption, display),
        "html": table_fragment(view, display),
    }


def _formula(view: Formula, display: Display) -> dict[str, Any]:
    return {
        "title": view.title,
        "equation": view.equation.name,
        "symbols": {k: show(v, q, display) for k, (v, q) in view.symbols.items()},
        "inputs": dict(view.inputs),
    }


def _advice(view: Advice, display: Display) -> dict[str, Any]:
    return {
        "title": view.title,
        "verdict": words(view.verdict, display),
        "now": tidy(view.now),
        "remedies": [
            {
                "key": r.key,
                "label": words(r.label, display),
                "change": {name: plain(value) for name, value in r.change.items()},
                "after": tidy(r.after),
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
        "start": {name: plain(value) for name, value in view.start.items()},
        "html": challenge_fragment(view, display),
    }


def _code(view: Code, _: Display) -> dict[str, Any]:
    return {"title": view.title, "language": view.language, "text": view.text}


_BY_KIND: dict[str, Any] = {
    "value": _value,
    "badge": _badge,
    "lines": _lines,
    "bars": _bars,
    "timeline": _timeline,
    "heatmap": _heatmap,
    "scene": _scene,
    "table": _table,
    "formula": _formula,
    "advice": _advice,
    "challenge": _challenge,
    "code": _code,
}
