"""Exports of a calculator's state: shell command, Python, Markdown, CSV, JSON."""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping

from engine.calculator import Calculator, changed_inputs
from engine.core import active_project
from engine.core.inputs import Field, Scalar, Text
from engine.core.numbers import Display, format_value
from engine.core.parsing import exact_text
from engine.core.text import render_text
from engine.core.views import Badge, Value, View
from engine.draw.chart_json import json_number
from engine.draw.csv import csv_rows

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
    said = [
        f"{view.text}: {render_text(view.sentence, display)}"
        for view in views.values()
        if isinstance(view, Badge)
    ]
    parts = [f"## {calculator.title}", calculator.question, _markdown_table("Input", inputs)]
    return "\n\n".join([*parts, _markdown_table("Result", numbers), *said]) + "\n"


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
