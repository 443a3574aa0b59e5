"""A view as plain JSON data: every number tidied, every text already in the reader's units."""

from typing import Any

from engine.core.numbers import Display, other_system, show
from engine.core.parsing import plain
from engine.core.text import words
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
    table_words,
)
from engine.draw.chart_json import bars_json, heatmap_json, lines_json, tidy
from engine.draw.fragments import (
    advice_fragment,
    badge_fragment,
    challenge_fragment,
    table_fragment,
)
from engine.draw.line_breaking import told
from engine.draw.scene import scene_json
from engine.draw.timeline_json import timeline_json


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
        "note": told(view.note, display),
        "basis": view.receipt.basis,
        "color": view.color,
    }


def _badge(view: Badge, display: Display) -> dict[str, Any]:
    sentence = words(view.sentence, display)
    html = badge_fragment(view, display)
    return {"text": view.text, "sentence": sentence, "color": view.color, "html": html}


def _scene(view: Scene, display: Display) -> dict[str, Any]:
    return {
        "title": view.title,
        "caption": told(view.caption, display),
        **scene_json(view, display),
    }


def _table(view: Table, display: Display) -> dict[str, Any]:
    said = table_words(view, display)
    return {
        "title": view.title,
        "columns": list(view.columns),
        "rows": said,
        "caption": words(view.caption, display),
        "html": table_fragment(view, display, said),
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
