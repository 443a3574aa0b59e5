"""A calculator as the templates get it: its fields, its default results, its ready pictures.

`Live` is the `ctx` of the macros in theme/templates/calculator.html.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any

from builder.calculators import citations
from builder.calculators.input_context import Field, field_of
from builder.calculators.placement_settings import meant
from builder.core.folders import digest
from builder.core.problem import ContentError, Problem
from engine import calculator as calculators
from engine.answer import reply, solved
from engine.calculator import make
from engine.core.equation import Equation
from engine.core.inputs import Field as Declaration
from engine.core.inputs import Scalar, Text
from engine.core.parsing import plain
from engine.core.views import Bars, Formula, Heatmap, Lines, Timeline, Value, View

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
    return citations.named_by(live.name, live.views)


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
