"""The data of a view as comma-separated text, in SI units with the unit in the heading."""

import math
from collections.abc import Iterable

from engine.text import words
from engine.units import Quantity
from engine.views import Axis, Bars, Heatmap, Lines, Scene, Table, Timeline, View


def csv_text(view: View) -> str:
    """Return the view's data as CSV (RFC 4180), the first row being headings."""
    return "".join(",".join(_cell(cell) for cell in row) + "\r\n" for row in _rows(view))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.12g}" if math.isfinite(value) else ""
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text


def unit_name(quantity: Quantity) -> str:
    """Return the SI unit of a quantity as a heading, e.g. "byte/second"."""
    powers = {"byte": quantity.byte, "second": quantity.second, "FLOP": quantity.flop}
    above = [name for name, power in powers.items() if power > 0]
    below = [name for name, power in powers.items() if power < 0]
    return "/".join(["·".join(above) or "1", *below]) if above or below else quantity.name


def _heading(axis: Axis) -> str:
    return f"{axis.label} [{unit_name(axis.quantity)}]"


def _rows(view: View) -> Iterable[Iterable[object]]:
    if isinstance(view, Lines):
        yield "series", _heading(view.x), _heading(view.y)
        for series in view.series:
            yield from ((series.label, x, y) for x, y in zip(series.x, series.y, strict=True))
    elif isinstance(view, Bars):
        yield "bar", "part", _heading(view.axis)
        for bar in view.bars:
            yield from ((bar.label, part.label, part.value) for part in bar.segments)
    elif isinstance(view, Timeline):
        yield "lane", "span", "start [second]", "end [second]"
        yield from ((span.lane, span.label, span.start, span.end) for span in view.spans)
    elif isinstance(view, Heatmap):
        yield view.y_label, *view.x
        for label, row in zip(view.y, view.values, strict=True):
            yield label, *row
    elif isinstance(view, Table):
        yield view.columns
        yield from ([words(cell) for cell in row] for row in view.rows)
    elif isinstance(view, Scene):
        yield "frame", "what happens"
        yield from ((i, words(frame.caption)) for i, frame in enumerate(view.frames))
