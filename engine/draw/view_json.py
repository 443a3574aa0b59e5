"""Views as JSON data: rounded numbers, and texts in the reader's units."""

from typing import Any

from engine.core.numbers import Display, format_value, other_system
from engine.core.parsing import exact_text
from engine.core.text import render_text
from engine.core.views import (
    Advice,
    Badge,
    Challenge,
    Code,
    Formula,
    Scene,
    Table,
    Value,
    View,
    table_texts,
)
from engine.draw.chart_json import bars_json, heatmap_json, json_number, lines_json
from engine.draw.fragments import (
    advice_fragment,
    badge_fragment,
    challenge_fragment,
    table_fragment,
)
from engine.draw.line_breaking import page_text
from engine.draw.scene import scene_json
from engine.draw.timeline_json import timeline_json


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
    said = table_texts(view, display)
    return {
        "title": view.title,
        "columns": list(view.columns),
        "rows": said,
        "caption": render_text(view.caption, display),
        "html": table_fragment(view, display, said),
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
