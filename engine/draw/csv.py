"""View data as CSV in SI units, with units in the header."""

import math
from collections.abc import Callable, Iterable

from engine.core.text import render_text
from engine.core.units import Quantity
from engine.core.views import Axis, Bars, Heatmap, Lines, Scene, Table, Timeline, View, table_texts


def csv_text(view: View) -> str:
    """Return the view's data as CSV (RFC 4180) with a header row."""
    return csv_rows(_ROWS_BY_VIEW[type(view)](view))


def csv_rows(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV (RFC 4180)."""
    return "".join(",".join(_cell(cell) for cell in row) + "\r\n" for row in rows)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.12g}" if math.isfinite(value) else ""
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text


def unit_name(quantity: Quantity) -> str:
    """Return the SI unit of a quantity for a header, e.g. "byte/second"."""
    powers = {
        "byte": quantity.byte,
        "second": quantity.second,
        "FLOP": quantity.flop,
        "joule": quantity.joule,
        "money": quantity.money,
    }
    above = [name for name, power in powers.items() if power > 0]
    below = [name for name, power in powers.items() if power < 0]
    return "/".join(["·".join(above) or "1", *below]) if above or below else quantity.name


def _heading(axis: Axis) -> str:
    return f"{axis.label} [{unit_name(axis.quantity)}]"


def _lines(view: Lines) -> Iterable[Iterable[object]]:
    yield "series", _heading(view.x), _heading(view.y)
    for series in view.series:
        yield from ((series.label, x, y) for x, y in zip(series.x, series.y, strict=True))


def _bars(view: Bars) -> Iterable[Iterable[object]]:
    yield "bar", "part", _heading(view.axis)
    for bar in view.bars:
        yield from ((bar.label, part.label, part.value) for part in bar.segments)


def _timeline(view: Timeline) -> Iterable[Iterable[object]]:
    """Yield a row per span, then a row per step of each curve."""
    axis = view.curve_axis
    head = ("lane", "span", "start [second]", "end [second]")
    if not any(span.links or span.after for span in view.spans) and axis is None:
        yield head
        yield from ((span.lane, span.name, span.start, span.end) for span in view.spans)
        return
    yield *head, "key", "belongs to", "waits for", _heading(axis) if axis else ""
    for span in view.spans:
        joined = " ".join(span.links), "; ".join(span.after)
        yield span.lane, span.name, span.start, span.end, span.key, *joined, ""
    for series in view.curves:
        ends = (*series.x[1:], max(span.end for span in view.spans)) if view.spans else series.x
        for start, end, value in zip(series.x, ends, series.y, strict=True):
            yield series.label, "", start, max(start, end), "", "", "", value


def _heatmap(view: Heatmap) -> Iterable[Iterable[object]]:
    yield view.y_label, *view.x
    yield from ((label, *row) for label, row in zip(view.y, view.values, strict=True))


def _table(view: Table) -> Iterable[Iterable[object]]:
    yield view.columns
    yield from table_texts(view)


def _scene(view: Scene) -> Iterable[Iterable[object]]:
    yield "frame", "what happens"
    yield from ((i, render_text(frame.caption)) for i, frame in enumerate(view.frames))


_ROWS_BY_VIEW: dict[type, Callable[..., Iterable[Iterable[object]]]] = {
    Lines: _lines,
    Bars: _bars,
    Timeline: _timeline,
    Heatmap: _heatmap,
    Table: _table,
    Scene: _scene,
}
