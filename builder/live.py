"""A calculator as the templates get it: its fields, its default results, its ready pictures.

`Live` is the `ctx` of the macros in theme/templates/calculator.html.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import import_module
from typing import Any

from builder.folders import digest
from builder.problem import ContentError, Problem
from builder.settings import meant
from engine import calculator as calculators
from engine.answer import reply, solved
from engine.basis.equation import Equation
from engine.basis.inputs import Choice, Number, Scalar, Switch, Text
from engine.basis.inputs import Field as Declaration
from engine.basis.text import plain
from engine.basis.views import (
    Bars,
    Cite,
    Formula,
    Heatmap,
    Lines,
    Receipt,
    Table,
    Timeline,
    Value,
    View,
)
from engine.calculator import Calculator, make

# (calculator, its inputs) -> those that a job of the reader's own fills.
Takes = Callable[[str, Collection[str]], tuple[str, ...]]
CHARTS = ("lines", "bars", "timeline", "heatmap")


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """What the box of a text is like: `samples` maps their names to what the reader sees."""

    samples: Mapping[str, str]
    placeholder: str
    rows: int
    files: str
    longest: int
    reader: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """An input: `value` is its SI text, `position` 0 to 1 on a slider (numbers only).

    `also`: option -> what other calculators call it.
    """

    name: str
    kind: str
    label: str
    symbol: str
    help: str
    advanced: bool
    text: str
    value: str
    position: float | None
    options: Mapping[str, str]
    also: Mapping[str, str]
    range: str
    box: Box | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A calculator with the results of its defaults.

    Attributes:
        outputs: name -> view JSON.
        presets: {"title", "values": {input: SI text}} each.
        reply: the engine's reply for the defaults; extra holds receipts, charts as tables and in
            words by output; the toolbox adds their pictures, svg.
        views: name -> the view itself.
        sources: output -> keys of the bibliography that its receipt or its cells can name,
            whatever is chosen.
        job: the inputs that a job from another page can fill.
        searches: it answers in slices, with a word on how far it is.
    """

    name: str
    title: str
    question: str
    fields: tuple[Field, ...]
    outputs: Mapping[str, dict[str, Any]]
    presets: tuple[dict[str, Any], ...]
    reply: Mapping[str, Any]
    views: Mapping[str, View]
    equations: tuple[Equation, ...]
    sources: Mapping[str, tuple[str, ...]]
    job: tuple[str, ...]
    searches: bool


def source(name: str) -> str:
    """Return the file that declares a calculator, from the project's folder."""
    return calculators.module_of(name).replace(".", "/") + ".py"


def names() -> tuple[str, ...]:
    """Return the names of all calculators, sorted."""
    return calculators.names()


def taker(dotted: str) -> Takes:
    """Return the function of the engine that says what a job fills; "" means that none is kept."""
    module, _, name = dotted.rpartition(".")
    if not module:
        return lambda calculator, inputs: ()
    found: Takes = getattr(import_module(module), name)
    return found


def read(name: str, takes: str = "") -> tuple[Live, list[Problem]]:
    """Return the calculator `name` with its default results, and what is wrong with it."""
    found, wrong = read_alone(name, takes)
    return replace(found, sources=sources_of(found)), wrong


def read_alone(name: str, takes: str = "") -> tuple[Live, list[Problem]]:
    """Return the same without its sources: those of all options take longer than all else.

    Args:
        name: of the calculator.
        takes: as in `Project.takes`.
    """
    calculator = calculators.load(name)
    views = solved(name, make(calculator, calculator.defaults)).made()
    values = [name for name, view in views.items() if isinstance(view, Value)]
    charts = [n for n, view in views.items() if isinstance(view, Lines | Bars | Timeline | Heatmap)]
    want = {"receipts": values, "table": charts, "spoken": charts}
    result = reply({"calculator": name, "want": want})
    extra = {"receipts": {}, "table": {}, "spoken": {}, **result["extra"]}
    live = Live(
        name=name,
        title=calculator.title,
        question=calculator.question,
        fields=tuple(
            _field(key, declared, result["inputs"][key])
            for key, declared in calculator.fields.items()
        ),
        outputs=result["outputs"],
        presets=tuple(
            {
                "title": title,
                "values": {key: _text(calculator.fields[key], one) for key, one in change.items()},
            }
            for title, change in calculator.presets.items()
        ),
        reply={**result, "extra": extra},
        views=views,
        equations=calculator.equations,
        sources={},
        job=taker(takes)(name, calculator.fields),
        searches=calculator.search is not None,
    )
    return live, [Problem(source(name), 1, message) for message in _wrong(live)]


def _text(field: Declaration, value: Scalar) -> str:
    """Return the SI text of a preset's value; a sample goes by its name, which is shorter."""
    return field.write(value) if isinstance(field, Text) else plain(value)


def at(live: Live, settings: Mapping[str, str], output: str) -> tuple[dict[str, Any], str]:
    """Return (view JSON, receipt) of a value for other inputs (SI texts).

    Raises:
        ContentError: an input does not exist or its value is not allowed.
    """
    asked = {"only": [output], "want": {"receipts": [output]}}
    result = reply({"calculator": live.name, "values": dict(settings), **asked})
    wrong = result["problems"] or [
        f"{live.name}.{name}: {entry['error']}" + _meant(live.name, name, settings)
        for name, entry in result["inputs"].items()
        if entry["error"]
    ]
    if wrong:
        raise ContentError(wrong[0])
    return result["outputs"][output], result["extra"]["receipts"][output]


def _meant(calculator: str, name: str, settings: Mapping[str, str]) -> str:
    field = calculators.load(calculator).fields[name]
    return meant(name, field, settings[name]) if name in settings else ""


def mark(live: Live) -> str:
    """Return the digest of what an article can show of a calculator."""
    told = (
        live.title,
        live.question,
        live.fields,
        live.outputs,
        live.presets,
        live.job,
        live.reply,
    )
    return digest(map(repr, (*told, live.equations)))


def sources_of(live: Live) -> dict[str, tuple[str, ...]]:
    """Return the sources of every output over all options, one chosen at a time.

    An output that by default is neither a number nor a table, or a table with rows and no source in
    them, names none, whatever is chosen, and is not made: advice, for one, tries many other jobs.
    """
    calculator, views = calculators.load(live.name), live.views
    silent = {name for name, view in views.items() if _is_silent(view)}
    found: dict[str, dict[str, None]] = {}
    tried = ({}, *_choices(calculator), *calculator.presets.values())
    # What is chosen anyway is among the options of every choice.
    for inputs in dict.fromkeys(make(calculator, values) for values in tried):
        lazy = solved(calculator.name, inputs)
        for name, view in lazy.made(set(lazy.names) - silent).items():
            found.setdefault(name, {}).update(dict.fromkeys(_named(view)))
    return {name: tuple(found.get(name, ())) for name in dict.fromkeys((*views, *found))}


def _is_silent(view: View) -> bool:
    if isinstance(view, Table):
        return bool(view.rows) and not _named(view)
    return not isinstance(view, Value)


def _choices(calculator: Calculator) -> list[dict[str, Scalar]]:
    found: list[dict[str, Scalar]] = []
    for name, field in calculator.fields.items():
        if isinstance(field, Choice):
            found += [{**calculator.small, name: option} for option in field.options]
        elif isinstance(field, Switch):
            found += [{**calculator.small, name: on} for on in (True, False)]
    return found


def _named(view: View) -> tuple[str, ...]:
    if isinstance(view, Value):
        return _in_receipt(view.receipt)
    cells = (cell for row in view.rows for cell in row) if isinstance(view, Table) else ()
    return tuple(key for cell in cells if isinstance(cell, Cite) for key in cell.keys)


def _in_receipt(receipt: Receipt) -> tuple[str, ...]:
    of_equation = receipt.equation.sources if receipt.equation else ()
    published = (receipt.published.source,) if receipt.published else ()
    return (*of_equation, *receipt.sources, *published)


def _field(name: str, declared: Declaration, entry: Mapping[str, Any]) -> Field:
    choice = declared if isinstance(declared, Choice) else None
    return Field(
        name=name,
        kind=type(declared).__name__.lower(),
        label=declared.label,
        symbol=declared.symbol if isinstance(declared, Number) else "",
        help=declared.help,
        advanced=declared.advanced,
        text=entry["text"],
        value=entry["value"],
        position=entry["position"],
        options=dict(choice.options) if choice else {},
        also={option: name for name, option in choice.also.items()} if choice else {},
        range=declared.range_words(),
        box=_box(declared) if isinstance(declared, Text) else None,
    )


def _box(declared: Text) -> Box:
    return Box(
        samples={name: sample.title for name, sample in declared.samples.items()},
        placeholder=declared.placeholder,
        rows=declared.rows,
        files=declared.files,
        longest=declared.longest,
        reader=declared.reader,
    )


def _is_nan(part: object) -> bool:
    """Say whether a view holds what is no number; a gap in a curve is infinite."""
    if isinstance(part, float):
        return math.isnan(part)
    if isinstance(part, Mapping):
        return any(map(_is_nan, part.values()))
    if isinstance(part, (tuple, list)):
        return any(map(_is_nan, part))
    return is_dataclass(part) and any(_is_nan(getattr(part, one.name)) for one in fields(part))


def _wrong(live: Live) -> list[str]:
    both = sorted(set(live.views) & {field.name for field in live.fields})
    found = [f"'{name}' is both an input and an output of {live.name}" for name in both]
    declared = {equation.name for equation in live.equations}
    for name, view in live.views.items():
        if _is_nan(view) and not isinstance(view, Heatmap):  # a cell may be empty
            found.append(f"output '{name}' holds NaN, which is no number")
        shown = view.receipt.equation if isinstance(view, Value) else None
        shown = view.equation if isinstance(view, Formula) else shown
        if shown is not None and shown.name not in declared:
            found.append(f"output '{name}' shows the equation '{shown.name}', not in EQUATIONS")
    return found
