"""A calculator as the templates get it: its fields, its default results, its ready pictures.

`Live` is the `ctx` of the macros in theme/templates/calculator.html.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any

from builder.calculators.placement_settings import meant
from builder.core.folders import digest
from builder.core.problem import ContentError, Problem
from engine import calculator as calculators
from engine.answer import reply, solved
from engine.calculator import Calculator, make
from engine.core.equation import Equation
from engine.core.inputs import Choice, Number, Scalar, Switch, Text
from engine.core.inputs import Field as Declaration
from engine.core.parsing import plain
from engine.core.views import (
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

MANY = 5  # options of a choice: of more, a page has a few at once
LONGEST = 3  # of them: these say how wide the box is


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

    @property
    def at_once(self) -> Mapping[str, str]:
        """Return the options that a page has from the start; all come with the receipts.

        Nobody can open the box before a script is there. Of many, the page has the chosen one, and
        the longest, so that the box does not grow when the others come.
        """
        if len(self.options) <= MANY:
            return self.options
        by_length = sorted(self.options, key=lambda key: -len(self.options[key]))
        kept = {self.value, *by_length[:LONGEST]}
        return {key: text for key, text in self.options.items() if key in kept}


def field_of(name: str, declared: Declaration, entry: Mapping[str, Any]) -> Field:
    """Return an input as a calculator declares it, with what the engine's reply says of it."""
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


def named_by(name: str, views: Mapping[str, View]) -> dict[str, tuple[str, ...]]:
    """Return the sources of every output over all options, one chosen at a time.

    Options of a choice that is said to cite nothing are not tried, nor are presets where a
    calculator says `PRESETS_CITE = False`.

    An output that by default is neither a number nor a table, or a table with rows and no source in
    them, names none, whatever is chosen, and is not made: advice, for one, tries many other jobs.

    Args:
        name: of the calculator.
        views: those of its defaults.
    """
    calculator = calculators.load(name)
    silent = {output for output, view in views.items() if is_silent(view)}
    found: dict[str, dict[str, None]] = {}
    presets = calculator.presets.values() if presets_cite(name) else ()
    tried = ({}, *_choices(calculator), *presets)
    # What is chosen anyway is among the options of every choice.
    for inputs in dict.fromkeys(make(calculator, values) for values in tried):
        lazy = solved(calculator.name, inputs)
        for output, view in lazy.made(set(lazy.names) - silent).items():
            found.setdefault(output, {}).update(dict.fromkeys(named(view)))
    return {output: tuple(found.get(output, ())) for output in dict.fromkeys((*views, *found))}


def presets_cite(name: str) -> bool:
    """Say whether presets of a calculator may bring sources that no single option brings."""
    return getattr(import_module(calculators.module_of(name)), "PRESETS_CITE", True)


def is_silent(view: View) -> bool:
    """Say whether an output with this view by default names no source, whatever is chosen."""
    if isinstance(view, Table):
        return bool(view.rows) and not named(view)
    return not isinstance(view, Value)


def _choices(calculator: Calculator) -> list[dict[str, Scalar]]:
    found: list[dict[str, Scalar]] = []
    for name, field in calculator.fields.items():
        if isinstance(field, Choice):
            options = field.options if field.cites else ()
            found += [{**calculator.small, name: option} for option in options]
        elif isinstance(field, Switch):
            found += [{**calculator.small, name: on} for on in (True, False)]
    return found


def named(view: View) -> tuple[str, ...]:
    """Return the sources that a view names."""
    if isinstance(view, Value):
        return _in_receipt(view.receipt)
    cells = (cell for row in view.rows for cell in row) if isinstance(view, Table) else ()
    return tuple(key for cell in cells if isinstance(cell, Cite) for key in cell.keys)


def _in_receipt(receipt: Receipt) -> tuple[str, ...]:
    of_equation = receipt.equation.sources if receipt.equation else ()
    published = (receipt.published.source,) if receipt.published else ()
    return (*of_equation, *receipt.sources, *published)


# (calculator, its inputs) -> those that a job of the reader's own fills.
Takes = Callable[[str, Collection[str]], tuple[str, ...]]
CHARTS = ("lines", "bars", "timeline", "heatmap")


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
            field_of(key, declared, result["inputs"][key])
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
    """Return the sources that every output can name, whatever is chosen."""
    return named_by(live.name, live.views)


def _is_nan(part: object) -> bool:
    """Say whether a view holds what is no number; a gap in a curve is infinite."""
    if isinstance(part, float):
        return math.isnan(part)
    if isinstance(part, str | int):
        return False
    if isinstance(part, Mapping):
        return any(map(_is_nan, part.values()))
    if isinstance(part, tuple | list):
        return any(map(_is_nan, part))
    kind: Any = type(part)
    return any(_is_nan(getattr(part, name)) for name in _names(kind))


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Return the names of a record's fields; of another type, none."""
    return tuple(one.name for one in fields(kind)) if is_dataclass(kind) else ()


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
