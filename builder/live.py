"""A calculator as the templates get it: its fields, its default results, its ready pictures.

`Live` is the `ctx` of the macros in theme/templates/calculator.html.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from builder.problem import ContentError, Problem
from engine import calculator as calculators
from engine.answer import reply
from engine.calculator import Calculator, make
from engine.draw.svg import svg_text
from engine.equation import Equation
from engine.inputs import Choice, Number
from engine.inputs import Field as Declaration
from engine.text import DEFAULT, plain
from engine.views import Bars, Formula, Heatmap, Lines, Scene, Timeline, Value, View

CHARTS = ("lines", "bars", "timeline", "heatmap")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """An input: `value` is its SI text, `position` 0 to 1 on a slider (numbers only)."""

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
    range: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A calculator with the results of its defaults.

    Attributes:
        outputs: name -> view JSON.
        presets: {"title", "values": {input: SI text}} each.
        reply: the engine's reply for the defaults; extra holds receipts, svg and table by output.
        views: name -> the view itself.
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


def source(name: str) -> str:
    """Return the file of a calculator, from the project's folder."""
    return f"engine/calculators/{name}.py"


def names() -> tuple[str, ...]:
    """Return the names of all calculators, sorted."""
    return calculators.names()


def read(name: str) -> tuple[Live, list[Problem]]:
    """Return the calculator `name` with its default results, and what is wrong with it."""
    calculator = calculators.load(name)
    views = calculator.compute(make(calculator, calculator.defaults))
    live = Live(
        name=name,
        title=calculator.title,
        question=calculator.question,
        fields=(),
        outputs={},
        presets=tuple(
            {"title": title, "values": {key: plain(value) for key, value in change.items()}}
            for title, change in calculator.presets.items()
        ),
        reply={},
        views=views,
        equations=calculator.equations,
    )
    return _with_reply(live, calculator, {}), [Problem(source(name), 1, m) for m in _wrong(live)]


def at(live: Live, settings: Mapping[str, str]) -> Live:
    """Return the calculator at other input values (SI texts).

    Raises:
        ContentError: an input does not exist or its value is not allowed.
    """
    calculator = calculators.load(live.name)
    changed = _with_reply(live, calculator, settings)
    wrong = changed.reply["problems"] or [
        f"{live.name}.{name}: {entry['error']}"
        for name, entry in changed.reply["inputs"].items()
        if entry["error"]
    ]
    if wrong:
        raise ContentError(wrong[0])
    return changed


def _with_reply(live: Live, calculator: Calculator, settings: Mapping[str, str]) -> Live:
    values = [name for name, view in live.views.items() if isinstance(view, Value)]
    charts = [n for n, v in live.views.items() if isinstance(v, Lines | Bars | Timeline | Heatmap)]
    want = {"receipts": values, "table": charts}
    result = reply({"calculator": live.name, "values": dict(settings), "want": want})
    extra = {"receipts": {}, "table": {}, **result["extra"], "svg": _pictures(live.views)}
    fields = {
        name: _field(name, declared, result["inputs"][name])
        for name, declared in calculator.fields.items()
    }
    return Live(
        name=live.name,
        title=live.title,
        question=live.question,
        fields=tuple(fields.values()),
        outputs=result["outputs"] or {},
        presets=live.presets,
        reply={**result, "extra": extra},
        views=live.views,
        equations=live.equations,
    )


def _pictures(views: Mapping[str, View]) -> dict[str, str]:
    drawn = (Lines, Bars, Timeline, Heatmap, Scene)
    return {n: svg_text(v, DEFAULT) for n, v in views.items() if isinstance(v, drawn)}


def _field(name: str, declared: Declaration, entry: Mapping[str, Any]) -> Field:
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
        options=dict(declared.options) if isinstance(declared, Choice) else {},
        range=declared.range_words(),
    )


def _wrong(live: Live) -> list[str]:
    calculator = calculators.load(live.name)
    both = sorted(set(live.views) & set(calculator.fields))
    found = [f"'{name}' is both an input and an output of {live.name}" for name in both]
    declared = {equation.name for equation in live.equations}
    for name, view in live.views.items():
        shown = view.receipt.equation if isinstance(view, Value) else None
        shown = view.equation if isinstance(view, Formula) else shown
        if shown is not None and shown.name not in declared:
            found.append(f"output '{name}' shows the equation '{shown.name}', not in EQUATIONS")
    return found
