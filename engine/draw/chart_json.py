"""Charts as JSON data: rounded numbers, and texts in the reader's units."""

import math
from typing import Any

from engine.core.numbers import Display, format_value
from engine.core.text import render_text
from engine.core.ticks import ticks
from engine.core.views import Axis, Bar, Bars, Heatmap, Lines, Point, Rule
from engine.draw.line_breaking import page_text


def json_number(value: float) -> float | None:
    """Return the number rounded to twelve significant digits, or None if not finite.

    The last bits of `log` or `pow` may differ between the C libraries of the reader's browser and
    of the build; twelve digits are the same everywhere.
    """
    return float(f"{value:.12g}") if math.isfinite(value) else None


def links_json(links: tuple[str, ...]) -> dict[str, list[str]]:
    """Return {"links": names of linked objects}, or an empty mapping."""
    return {"links": list(links)} if links else {}


def axis_json(axis: Axis, display: Display, most: int = 6) -> dict[str, Any]:
    """Return an axis with about `most` ticks or fewer."""
    return {
        "label": axis.label,
        "low": json_number(axis.low),
        "high": json_number(axis.high),
        "scale": axis.scale,
        "ticks": [[json_number(value), text] for value, text in ticks(axis, display, most)],
    }


def rules_json(rules: tuple[Rule, ...], display: Display) -> list[dict[str, Any]]:
    """Return reference lines with rendered labels."""
    return [
        {
            "key": rule.key,
            "label": render_text(rule.label, display),
            "axis": rule.axis,
            "at": json_number(rule.at),
            "color": rule.color,
        }
        for rule in rules
    ]


def points_json(points: tuple[Point, ...], display: Display) -> list[dict[str, Any]]:
    """Return marked points with rendered labels."""
    return [
        {
            "key": point.key,
            "label": render_text(point.label, display),
            "x": json_number(point.x),
            "y": json_number(point.y),
            "color": point.color,
        }
        for point in points
    ]


def lines_json(view: Lines, display: Display) -> dict[str, Any]:
    """Return curves as columns, with a display text per value."""
    columns, texts = {}, {}
    for series in view.series:
        if series.x not in texts:
            texts[series.x] = [format_value(x, view.x.quantity, display) for x in series.x]
        columns[series.key] = {
            "x": [json_number(x) for x in series.x],
            "y": [json_number(y) for y in series.y],
            "x_text": texts[series.x],
            "y_text": [format_value(y, view.y.quantity, display) for y in series.y],
        }
    return {
        "title": view.title,
        "caption": page_text(view.caption, display),
        "handle": view.handle,
        "x": axis_json(view.x, display),
        "y": axis_json(view.y, display),
        "series": [
            {"key": s.key, "label": s.label, "color": s.color, "dashed": s.dashed}
            | ({"dots": True} if s.key in view.dots else {})
            for s in view.series
        ],
        "columns": columns,
        "points": points_json(view.points, display),
        "rules": rules_json(view.rules, display),
    }


def _bar(bar: Bar, view: Bars, display: Display) -> dict[str, Any]:
    segments, start = [], 0.0
    for segment in bar.segments:
        segments.append(
            {
                "key": segment.key,
                "label": segment.label,
                "color": segment.color,
                "start": json_number(start),
                "end": json_number(start + segment.value),
                "text": format_value(segment.value, view.axis.quantity, display),
                **links_json(segment.links),
            }
        )
        start += segment.value
    total = format_value(start, view.axis.quantity, display)
    spread = {"range": [json_number(bar.low), json_number(bar.high)]} if bar.low != bar.high else {}
    return {
        "key": bar.key,
        "label": bar.label,
        "text": total,
        "segments": segments,
        **spread,
        **links_json(bar.links),
    }


def bars_json(view: Bars, display: Display) -> dict[str, Any]:
    """Return bars with their stacked segments."""
    return {
        "title": view.title,
        "caption": page_text(view.caption, display),
        "axis": axis_json(view.axis, display),
        "bars": [_bar(bar, view, display) for bar in view.bars],
        "keys": list(_legend_of(view).items()),
        "rules": rules_json(view.rules, display),
    }


def _legend_of(view: Bars) -> dict[str, str]:
    """Return the legend (label -> color), or {} where the bars' own labels suffice.

    One name alone says no more than the axis, and bars of other colors would seem to be left out.
    """
    parts = [(bar, part) for bar in view.bars for part in bar.segments]
    parted = any(len(bar.segments) > 1 for bar in view.bars)
    grouped = any(part.label != bar.label for bar, part in parts)
    keys = {part.label: part.color for _, part in parts}
    colors = {part.color for _, part in parts}
    return keys if len(keys) > 1 and (parted or (grouped and len(colors) > 1)) else {}


def heatmap_json(view: Heatmap, display: Display) -> dict[str, Any]:
    """Return a heatmap with a display text per cell."""
    return {
        "title": view.title,
        "caption": page_text(view.caption, display),
        "x_label": view.x_label,
        "y_label": view.y_label,
        "x": list(view.x),
        "y": list(view.y),
        "values": [[json_number(value) for value in row] for row in view.values],
        "texts": [
            [format_value(value, view.quantity, display) for value in row] for row in view.values
        ],
        "points": points_json(view.points, display),
    }
