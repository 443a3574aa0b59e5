"""A calculator in its present state as a text to take away: a program, a command, a table, data."""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping

from engine.calculator import Calculator, changed
from engine.core import active_project
from engine.core.inputs import Field, Scalar, Text
from engine.core.numbers import Display, show
from engine.core.parsing import plain
from engine.core.text import words
from engine.core.views import Badge, Value, View
from engine.draw.chart_json import tidy
from engine.draw.csv import csv_rows

Values = Mapping[str, Scalar]
Views = Mapping[str, View]


def taken(kind: str, calculator: Calculator, values: Values, views: Views, display: Display) -> str:
    """Return the text of a kind in `KINDS`, "" for any other.

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
    given = [f"{name}={text}" for name, text in changed(calculator, values).items()]
    flags = [
        *(["--binary"] if display.binary else []),
        *(["--both-ways"] if display.both_ways else []),
    ]
    return shlex.join(["python", "-m", active_project.package(), calculator.name, *given, *flags])


def _python(calculator: Calculator, values: Values, views: Views, display: Display) -> str:
    given = {name: values[name] for name in changed(calculator, values)}
    lines = "".join(f"    {name!r}: {value!r},\n" for name, value in given.items())
    inputs = f"{{\n{lines}}}" if given else "{}"
    imported, told = "", ""
    if active_project.package() != "engine":  # whose calculators `load` finds unless told
        imported = "from engine.core import active_project\n"
        told = f"active_project.CALCULATORS = {active_project.CALCULATORS!r}\n"
    return (
        f"{imported}from engine.calculator import load, make\n\n"
        f"{told}calculator = load({calculator.name!r})\n"
        "# SI units; an input that is not named has its default.\n"
        f"inputs = make(calculator, {inputs})\n"
        "print(calculator.solve(inputs))\n"
    )


def _markdown(calculator: Calculator, values: Values, views: Views, display: Display) -> str:
    inputs = [
        (field.label, _in_short(field, values[name])) for name, field in calculator.fields.items()
    ]
    numbers = [(value.label, shown) for _, value, shown in _numbers(views, display)]
    said = [
        f"{view.text}: {words(view.sentence, display)}"
        for view in views.values()
        if isinstance(view, Badge)
    ]
    parts = [f"## {calculator.title}", calculator.question, _rows("Input", inputs)]
    return "\n\n".join([*parts, _rows("Result", numbers), *said]) + "\n"


def _in_short(field: Field, value: Scalar) -> str:
    """Return a value as it is shown; of a text how long it is, for it is the reader's alone."""
    return field.brief(value) if isinstance(field, Text) else field.show(value)


def _named(field: Field, value: Scalar) -> str:
    return field.linked(value) if isinstance(field, Text) else plain(value)


def _rows(head: str, rows: list[tuple[str, str]]) -> str:
    cells = ((name.replace("|", r"\|"), text.replace("|", r"\|")) for name, text in rows)
    return "\n".join([f"| {head} | |", "|---|---|", *(f"| {n} | {t} |" for n, t in cells)])


def _csv(calculator: Calculator, values: Values, views: Views, display: Display) -> str:
    rows = [("kind", "name", "label", "value in SI units", "shown")]
    rows += [
        ("input", name, field.label, _named(field, values[name]), _in_short(field, values[name]))
        for name, field in calculator.fields.items()
    ]
    rows += [
        ("result", name, view.label, _exact(view), shown)
        for name, view, shown in _numbers(views, display)
    ]
    return csv_rows(rows)


def _json(calculator: Calculator, values: Values, views: Views, display: Display) -> str:
    found = {
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
                "value": tidy(view.value),
                "shown": shown,
            }
            for name, view, shown in _numbers(views, display)
        },
    }
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _numbers(views: Views, display: Display) -> Iterator[tuple[str, Value, str]]:
    for name, view in views.items():
        if isinstance(view, Value):
            yield name, view, show(view.value, view.quantity, display)


def _exact(view: Value) -> str:
    found = tidy(view.value)
    return "" if found is None else plain(found)


KINDS: Mapping[str, Callable[[Calculator, Values, Views, Display], str]] = {
    "terminal": _terminal,
    "python": _python,
    "markdown": _markdown,
    "csv": _csv,
    "json": _json,
}
