"""Exports of a calculator's state: shell command, Python, Markdown, CSV, JSON."""

import json
import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from engine.calculator import Calculator, changed_inputs
from engine.core import active_project
from engine.core.inputs import Field, Scalar, Text
from engine.core.numbers import Display, format_value
from engine.core.parsing import exact_text
from engine.core.text import render_text
from engine.core.units import Quantity, with_digits
from engine.core.views import Badge, Bars, Heatmap, Lines, Timeline, Value, View
from engine.draw.chart_json import json_number
from engine.draw.csv import csv_rows
from engine.draw.escape import escape
from engine.draw.fragments import stays_on_line

Values = Mapping[str, Scalar]
Views = Mapping[str, View]


def export_text(
    kind: str, calculator: Calculator, values: Values, views: Views, display: Display
) -> str:
    """Return the export of a kind in `KINDS`, "" for any other kind.

    Args:
        kind: "terminal", "python", "markdown", "csv" or "json".
        calculator: which one.
        values: of all its inputs, SI.
        views: all of them.
        display: how the reader wants numbers shown.
    """
    write = KINDS.get(kind)
    return write(calculator, values, views, display) if write else ""


def _terminal(calculator: Calculator, values: Values, views: Views, display: Display) -> str:
    changes = [f"{name}={text}" for name, text in changed_inputs(calculator, values).items()]
    flags = [
        *(["--binary"] if display.binary else []),
        *(["--both-ways"] if display.both_ways else []),
    ]
    return shlex.join(["python", "-m", active_project.package(), calculator.name, *changes, *flags])


def _python(calculator: Calculator, values: Values, views: Views, display: Display) -> str:
    changes = {name: values[name] for name in changed_inputs(calculator, values)}
    lines = "".join(f"    {name!r}: {value!r},\n" for name, value in changes.items())
    inputs = f"{{\n{lines}}}" if changes else "{}"
    import_line, project_line = "", ""
    if active_project.package() != "engine":  # whose calculators `load` finds unless told
        import_line = "from engine.core import active_project\n"
        project_line = f"active_project.CALCULATORS = {active_project.CALCULATORS!r}\n"
    return (
        f"{import_line}from engine.calculator import load, make\n\n"
        f"{project_line}calculator = load({calculator.name!r})\n"
        "# SI units; an input that is not named has its default.\n"
        f"inputs = make(calculator, {inputs})\n"
        "print(calculator.solve(inputs))\n"
    )


def _markdown(calculator: Calculator, values: Values, views: Views, display: Display) -> str:
    inputs = [
        (field.label, _value_text(field, values[name])) for name, field in calculator.fields.items()
    ]
    numbers = [(value.label, shown) for _, value, shown in _number_views(views, display)]
    sentences = [
        f"{view.text}: {render_text(view.sentence, display)}"
        for view in views.values()
        if isinstance(view, Badge)
    ]
    parts = [f"## {calculator.title}", calculator.question, _markdown_table("Input", inputs)]
    return "\n\n".join([*parts, _markdown_table("Result", numbers), *sentences]) + "\n"


def _value_text(field: Field, value: Scalar) -> str:
    """Return a value as displayed; of a text input only its size, as the text is private."""
    return field.brief(value) if isinstance(field, Text) else field.show(value)


def _link_text(field: Field, value: Scalar) -> str:
    return field.linked(value) if isinstance(field, Text) else exact_text(value)


def _markdown_table(head: str, rows: list[tuple[str, str]]) -> str:
    cells = ((name.replace("|", r"\|"), text.replace("|", r"\|")) for name, text in rows)
    return "\n".join([f"| {head} | |", "|---|---|", *(f"| {n} | {t} |" for n, t in cells)])


def _csv(calculator: Calculator, values: Values, views: Views, display: Display) -> str:
    rows = [("kind", "name", "label", "value in SI units", "shown")]
    rows += [
        (
            "input",
            name,
            field.label,
            _link_text(field, values[name]),
            _value_text(field, values[name]),
        )
        for name, field in calculator.fields.items()
    ]
    rows += [
        ("result", name, view.label, _exact_value(view), shown)
        for name, view, shown in _number_views(views, display)
    ]
    return csv_rows(rows)


def _json(calculator: Calculator, values: Values, views: Views, display: Display) -> str:
    export_data = {
        "calculator": calculator.name,
        "title": calculator.title,
        "units": "SI: seconds, bytes, bytes per second, FLOP; shares of one",
        "inputs": {
            name: field.linked(values[name]) if isinstance(field, Text) else values[name]
            for name, field in calculator.fields.items()
        },
        "results": {
            name: {
                "label": view.label,
                "value": json_number(view.value),
                "shown": shown,
            }
            for name, view, shown in _number_views(views, display)
        },
    }
    return json.dumps(export_data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _number_views(views: Views, display: Display) -> Iterator[tuple[str, Value, str]]:
    for name, view in views.items():
        if isinstance(view, Value):
            yield name, view, format_value(view.value, view.quantity, display)


def _exact_value(view: Value) -> str:
    number = json_number(view.value)
    return "" if number is None else exact_text(number)


KINDS: Mapping[str, Callable[[Calculator, Values, Views, Display], str]] = {
    "terminal": _terminal,
    "python": _python,
    "markdown": _markdown,
    "csv": _csv,
    "json": _json,
}


# Chart data as an HTML table of about a dozen rows.

_MAX_ROWS = 12
_AXIS_DIGITS = (3, 4)  # digits of a place along an axis

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
    """Return the text of a cell; "-" for a value that is not finite."""
    return format_value(value, quantity, display) if math.isfinite(value) else "-"


def _numbers(values: Sequence[float], quantity: Quantity, display: Display) -> list[str]:
    """Return axis values with three digits, or four where three do not tell them apart."""
    few = [
        with_digits(quantity, digits) if quantity.digits > digits else quantity
        for digits in _AXIS_DIGITS
    ]
    written = [[format_value(value, rounded, display) for value in values] for rounded in few]
    return written[0] if len(set(written[0])) == len(set(values)) else written[-1]


def spread_indices(count: int, most: int = _MAX_ROWS) -> list[int]:
    """Return at most `most` evenly spaced indices below `count`, including both ends."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})


def _lines(view: Lines, display: Display) -> tuple[tuple[str, ...], Rows]:
    head = (view.x.label, *(s.label or view.y.label for s in view.series))
    if len({s.x for s in view.series}) < 2:
        return head, _shared_x_rows(view, display)
    shown = _table_places(view)
    written = _numbers(shown, view.x.quantity, display)
    values_at = [dict(zip(reversed(s.x), reversed(s.y), strict=True)) for s in view.series]
    rows = [
        (
            x_text,
            *(_cell(values.get(x, math.nan), view.y.quantity, display) for values in values_at),
        )
        for x, x_text in zip(shown, written, strict=True)
    ]
    return head, rows


def _shared_x_rows(view: Lines, display: Display) -> Rows:
    """Return rows in point order, for curves with the same x values (which may repeat)."""
    xs = view.series[0].x if view.series else ()
    shown = spread_indices(len(xs))
    x_texts = _numbers([xs[i] for i in shown], view.x.quantity, display)
    return [
        (x_text, *(format_value(s.y[i], view.y.quantity, display) for s in view.series))
        for i, x_text in zip(shown, x_texts, strict=True)
    ]


def _table_places(view: Lines) -> list[float]:
    """Return the x values that get a row: only points of the curves."""
    each = dict.fromkeys(s.x for s in view.series)
    most = max(3, _MAX_ROWS // len(each))
    return sorted({x[i] for x in each for i in spread_indices(len(x), most)})


def _bars(view: Bars, display: Display) -> tuple[tuple[str, ...], Rows]:
    rows: Rows = [
        (bar.label, part.label, format_value(part.value, view.axis.quantity, display))
        for bar in view.bars
        for part in bar.segments
    ]
    if all(bar == part for bar, part, _ in rows):  # a bar of one part has one name
        return ("", view.axis.label), [(bar, value) for bar, _, value in rows]
    return ("", "part", view.axis.label), rows


def _timeline(view: Timeline, display: Display) -> tuple[tuple[str, ...], Rows]:
    names = {lane.key: lane.label for lane in view.lanes}
    quantity = view.axis.quantity
    spans = [view.spans[i] for i in spread_indices(len(view.spans))]
    rows: Rows = [
        (
            span.name,
            names[span.lane],
            format_value(span.start, quantity, display),
            format_value(span.end, quantity, display),
            "exposed" if span.exposed else "",
        )
        for span in spans
    ]
    return ("span", "lane", "start", "end", ""), rows


def _data_cell(text: str) -> str:
    kind = "" if stays_on_line(text, len(text)) else ' class="words"'
    return f"<td{kind}>{escape(text)}</td>"


def _html(title: str, head: Sequence[str], rows: Rows) -> str:
    # A header without a word is none to a screen reader.
    top = "".join(f'<th scope="col">{escape(cell)}</th>' if cell else "<td></td>" for cell in head)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>' + "".join(map(_data_cell, cells)) + "</tr>"
        for first, *cells in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}"><table>'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )
