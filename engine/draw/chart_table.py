"""The data of a chart as an HTML table of a dozen rows, for reading rather than for a program."""

import math
from collections.abc import Sequence

from engine.core.numbers import Display, show
from engine.core.units import Quantity, as_given
from engine.core.views import Bars, Heatmap, Lines, Timeline, View
from engine.draw.escape import escape
from engine.draw.responsive_tables import stays

_MOST = 12
_FEW = (3, 4)  # digits of a place along an axis

Rows = list[tuple[str, ...]]


def table_text(view: View, display: Display) -> str:
    """Return the chart's data as a table with every number written in the reader's units.

    Raises:
        TypeError: the view is not a chart.
    """
    if isinstance(view, Lines):
        head, rows = _lines(view, display)
    elif isinstance(view, Bars):
        head, rows = _bars(view, display)
    elif isinstance(view, Timeline):
        head, rows = _timeline(view, display)
    elif isinstance(view, Heatmap):
        head = (f"{view.y_label} \\ {view.x_label}", *view.x)
        rows = [
            (name, *(_cell(value, view.quantity, display) for value in row))
            for name, row in zip(view.y, view.values, strict=True)
        ]
    else:
        raise TypeError(f"no table of a {type(view).__name__}; there are tables of charts only")
    return _html(view.title, head, rows)


def _cell(value: float, quantity: Quantity, display: Display) -> str:
    """Return a cell's number; a dash where a cell is left out, such as a diagonal."""
    return show(value, quantity, display) if math.isfinite(value) else "-"


def _numbers(values: Sequence[float], quantity: Quantity, display: Display) -> list[str]:
    """Return the places along an axis with the three digits of a prediction, or four to differ."""
    few = [as_given(quantity, digits) if quantity.given > digits else quantity for digits in _FEW]
    written = [[show(value, one, display) for value in values] for one in few]
    return written[0] if len(set(written[0])) == len(set(values)) else written[-1]


def sample(count: int, most: int = _MOST) -> list[int]:
    """Return at most `most` indices spread evenly over `count`, both ends among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})


def _lines(view: Lines, display: Display) -> tuple[tuple[str, ...], Rows]:
    head = (view.x.label, *(s.label or view.y.label for s in view.series))
    if len({s.x for s in view.series}) < 2:
        return head, _same_places(view, display)
    shown = _places(view)
    written = _numbers(shown, view.x.quantity, display)
    found = [dict(zip(reversed(s.x), reversed(s.y), strict=True)) for s in view.series]
    rows = [
        (place, *(_cell(own.get(x, math.nan), view.y.quantity, display) for own in found))
        for x, place in zip(shown, written, strict=True)
    ]
    return head, rows


def _same_places(view: Lines, display: Display) -> Rows:
    """Return rows in the order of the points, which may be at one place more than once."""
    xs = view.series[0].x if view.series else ()
    shown = sample(len(xs))
    places = _numbers([xs[i] for i in shown], view.x.quantity, display)
    return [
        (place, *(show(s.y[i], view.y.quantity, display) for s in view.series))
        for i, place in zip(shown, places, strict=True)
    ]


def _places(view: Lines) -> list[float]:
    """Return the places with a row; between its points a curve is not read off."""
    each = dict.fromkeys(s.x for s in view.series)
    most = max(3, _MOST // len(each))
    return sorted({x[i] for x in each for i in sample(len(x), most)})


def _bars(view: Bars, display: Display) -> tuple[tuple[str, ...], Rows]:
    rows: Rows = [
        (bar.label, part.label, show(part.value, view.axis.quantity, display))
        for bar in view.bars
        for part in bar.segments
    ]
    return ("", "part", view.axis.label), rows


def _timeline(view: Timeline, display: Display) -> tuple[tuple[str, ...], Rows]:
    names = {lane.key: lane.label for lane in view.lanes}
    quantity = view.axis.quantity
    spans = [view.spans[i] for i in sample(len(view.spans))]
    rows: Rows = [
        (
            span.name,
            names[span.lane],
            show(span.start, quantity, display),
            show(span.end, quantity, display),
            "exposed" if span.exposed else "",
        )
        for span in spans
    ]
    return ("span", "lane", "start", "end", ""), rows


def _data_cell(text: str) -> str:
    kind = "" if stays(text, len(text)) else ' class="words"'
    return f"<td{kind}>{escape(text)}</td>"


def _html(title: str, head: Sequence[str], rows: Rows) -> str:
    # A header without a word is none to a screen reader.
    top = "".join(f'<th scope="col">{escape(cell)}</th>' if cell else "<td></td>" for cell in head)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>' + "".join(map(_data_cell, rest)) + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}"><table>'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )
