"""Template context of a calculator: its inputs, default results and pictures.

`CalculatorContext` is the `ctx` of the macros in theme/templates/calculator.html.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from builder.calculators.input_words import input_words
from builder.content.article import Article
from builder.core.folders import digest
from builder.core.problem import ContentError, Problem
from engine import calculator as calculators
from engine.answer import reply, solved_views
from engine.calculator import Calculator, make
from engine.core.equation import Equation
from engine.core.inputs import Choice, Field, InputError, Number, Scalar, Switch, Text
from engine.core.inputs import Field as Declaration
from engine.core.parsing import exact_text
from engine.core.views import (
    Bars,
    Citation,
    Formula,
    Heatmap,
    Lines,
    Receipt,
    Table,
    Timeline,
    Value,
    View,
)


def unit_hint(name: str, field: Field, text: str) -> str:
    """Return a hint for a rejected number without a unit, "" where there is none.

    A bare number is in SI units, while the field beside it shows its own.

    Args:
        name: of the input.
        field: its declaration.
        text: what was written, which is refused.
    """
    if not isinstance(field, Number) or not field.unit.text.strip() or field.unit.size == 1:
        return ""
    try:
        value = float(text)
    except ValueError:
        return ""
    hint = f"; without a unit it is {field.show(value)}"
    with_unit = f"{text}{field.unit.text.strip()}"
    try:
        field.read(with_unit, typed=False)
    except InputError:
        return hint
    return f"{hint}: write {name}={with_unit}"


MANY_OPTIONS = 5  # a choice with more options has only some of them in the page's first HTML
LONGEST_SHOWN = 3  # longest options among them, which set the width of the box


@dataclass(frozen=True, slots=True, kw_only=True)
class TextInputContext:
    """Template context of a text input; `samples` maps sample names to titles."""

    samples: Mapping[str, str]
    placeholder: str
    rows: int
    files: str
    longest: int
    reader: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputContext:
    """Template context of an input: `value` is its SI text, `position` 0 to 1 on a slider.

    `position` is for numbers only; `also` maps an option to its name in other calculators. `ruler`
    is what a slider needs before the engine is there: size and text of the unit, low, high, whether
    logarithmic; none where the unit depends on the number.
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
    box: TextInputContext | None
    ruler: tuple[float, str, float, float, bool] | None = None

    @property
    def initial_options(self) -> Mapping[str, str]:
        """Return the options in the page's first HTML; the receipts bring all of them.

        Nobody can open the box before a script is there. Of many, the page has the chosen one, and
        the longest, so that the box does not grow when the others come.
        """
        if len(self.options) <= MANY_OPTIONS:
            return self.options
        by_length = sorted(self.options, key=lambda key: -len(self.options[key]))
        shown = {self.value, *by_length[:LONGEST_SHOWN]}
        return {key: text for key, text in self.options.items() if key in shown}


def input_context(name: str, declared: Declaration, entry: Mapping[str, Any]) -> InputContext:
    """Return the context of an input from its declaration and its entry in the engine's reply."""
    choice = declared if isinstance(declared, Choice) else None
    return InputContext(
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
        box=_text_input_context(declared) if isinstance(declared, Text) else None,
        ruler=_ruler(declared) if isinstance(declared, Number) else None,
    )


def _ruler(number: Number) -> tuple[float, str, float, float, bool] | None:
    unit = number.unit
    if unit.shown:
        return None
    return unit.size, unit.text, number.low, number.high, number.scale != "linear"


def _text_input_context(declared: Text) -> TextInputContext:
    return TextInputContext(
        samples={name: sample.title for name, sample in declared.samples.items()},
        placeholder=declared.placeholder,
        rows=declared.rows,
        files=declared.files,
        longest=declared.longest,
        reader=declared.reader,
    )


def sources_by_output(name: str, views: Mapping[str, View]) -> dict[str, tuple[str, ...]]:
    """Return output -> sources over all options, varying one choice at a time.

    Options of a choice that is said to cite nothing are not tried, nor are presets where a
    calculator says `PRESETS_CITE = False`.

    An output that by default is neither a number nor a table, or a table with rows and no source in
    them, names none, whatever is chosen, and is not made: advice, for one, tries many other jobs.

    Args:
        name: of the calculator.
        views: those of its defaults.
    """
    calculator = calculators.load(name)
    without_sources = {output for output, view in views.items() if names_no_source(view)}
    sources: dict[str, dict[str, None]] = {}
    presets = calculator.presets.values() if presets_may_cite(name) else ()
    input_sets = ({}, *_option_inputs(calculator), *presets)
    # The defaults are among the options of every choice.
    for inputs in dict.fromkeys(make(calculator, values) for values in input_sets):
        solution = solved_views(calculator.name, inputs)
        for output, view in solution.compute(set(solution.names) - without_sources).items():
            sources.setdefault(output, {}).update(dict.fromkeys(view_sources(view)))
    return {output: tuple(sources.get(output, ())) for output in dict.fromkeys((*views, *sources))}


def presets_may_cite(name: str) -> bool:
    """Return whether a calculator's presets may cite sources that no single option cites."""
    return getattr(import_module(calculators.module_of(name)), "PRESETS_CITE", True)


def names_no_source(view: View) -> bool:
    """Return whether an output with this default view cites no source, whatever the options."""
    if isinstance(view, Table):
        return bool(view.rows) and not view_sources(view)
    return not isinstance(view, Value)


def _option_inputs(calculator: Calculator) -> list[dict[str, Scalar]]:
    input_sets: list[dict[str, Scalar]] = []
    for name, field in calculator.fields.items():
        if isinstance(field, Choice):
            options = field.options if field.cites else ()
            input_sets += [{**calculator.small, name: option} for option in options]
        elif isinstance(field, Switch):
            input_sets += [{**calculator.small, name: value} for value in (True, False)]
    return input_sets


def view_sources(view: View) -> tuple[str, ...]:
    """Return the sources that a view cites."""
    if isinstance(view, Value):
        return _receipt_sources(view.receipt)
    cells = (cell for row in view.rows for cell in row) if isinstance(view, Table) else ()
    return tuple(key for cell in cells if isinstance(cell, Citation) for key in cell.keys)


def _receipt_sources(receipt: Receipt) -> tuple[str, ...]:
    of_equation = receipt.equation.sources if receipt.equation else ()
    published = (receipt.published.source,) if receipt.published else ()
    return (*of_equation, *receipt.sources, *published)


# (calculator, its inputs) -> the inputs that the reader's saved job fills.
JobInputs = Callable[[str, Collection[str]], tuple[str, ...]]
CHARTS = ("lines", "bars", "timeline", "heatmap")


@dataclass(frozen=True, slots=True, kw_only=True)
class CalculatorContext:
    """Template context of a calculator with the results at its defaults.

    Attributes:
        headline: the output that the reader decides by.
        groups: heading -> names of folded inputs; empty where few are folded.
        outputs: name -> view JSON.
        presets: {"title", "values": {input: SI text}} each.
        reply: the engine's reply for the defaults; extra holds receipts, charts as tables and in
            words by output; `calculator_set` adds their pictures, svg.
        views: name -> the view itself.
        sources: output -> keys of the bibliography that its receipt or its cells can name,
            whatever is chosen.
        job: the inputs that a job from another page can fill.
        searches: it answers in slices, with a word on how far it is.
    """

    name: str
    title: str
    question: str
    headline: str
    fields: tuple[InputContext, ...]
    groups: Mapping[str, tuple[str, ...]]
    outputs: Mapping[str, dict[str, Any]]
    presets: tuple[dict[str, Any], ...]
    reply: Mapping[str, Any]
    views: Mapping[str, View]
    equations: tuple[Equation, ...]
    sources: Mapping[str, tuple[str, ...]]
    job: tuple[str, ...]
    searches: bool

    @property
    def folds(self) -> tuple[tuple[str, tuple[InputContext, ...]], ...]:
        """Return the folded inputs under their headings, or all under one; nothing without any."""
        folded = {field.name: field for field in self.fields if field.advanced}
        groups = self.groups or {"More inputs": tuple(folded)}
        return tuple(
            (title, tuple(folded[name] for name in names))
            for title, names in groups.items()
            if names
        )

    @property
    def finds(self) -> dict[str, str]:
        """Return input -> flags and words of training software that find it in a long form."""
        words = {field.name: input_words(field.name) for field in self.fields}
        return {name: text for name, text in words.items() if text}


def source_path(name: str) -> str:
    """Return the path of a calculator's source file, relative to the project."""
    return calculators.module_of(name).replace(".", "/") + ".py"


def calculator_names() -> tuple[str, ...]:
    """Return the names of all calculators, sorted."""
    return calculators.names()


def job_inputs_function(dotted: str) -> JobInputs:
    """Return the project's function (calculator, inputs) -> inputs that a saved job fills."""
    module, _, name = dotted.rpartition(".")
    if not module:
        return lambda calculator, inputs: ()
    function: JobInputs = getattr(import_module(module), name)
    return function


def load_without_sources(name: str, takes: str = "") -> tuple[CalculatorContext, list[Problem]]:
    """Return the context without its sources, which take longest to compute, and its problems.

    Args:
        name: of the calculator.
        takes: as in `Project.takes`.
    """
    calculator = calculators.load(name)
    views = solved_views(name, make(calculator, calculator.defaults)).compute()
    values = [name for name, view in views.items() if isinstance(view, Value)]
    charts = [n for n, view in views.items() if isinstance(view, Lines | Bars | Timeline | Heatmap)]
    want = {"receipts": values, "table": charts, "spoken": charts}
    result = reply({"calculator": name, "want": want})
    extra = {"receipts": {}, "table": {}, "spoken": {}, **result["extra"]}
    context = CalculatorContext(
        name=name,
        title=calculator.title,
        question=calculator.question,
        headline=calculator.headline,
        fields=tuple(
            input_context(key, declared, result["inputs"][key])
            for key, declared in calculator.fields.items()
        ),
        groups=calculator.groups,
        outputs=result["outputs"],
        presets=tuple(
            {
                "title": title,
                "values": {
                    key: _preset_text(calculator.fields[key], value)
                    for key, value in change.items()
                },
            }
            for title, change in calculator.presets.items()
        ),
        reply={**result, "extra": extra},
        views=views,
        equations=calculator.equations,
        sources={},
        job=job_inputs_function(takes)(name, calculator.fields),
        searches=calculator.search is not None,
    )
    return context, [
        Problem(source_path(name), 1, message) for message in _context_problems(context)
    ]


def _preset_text(field: Declaration, value: Scalar) -> str:
    """Return the SI text of a preset's value; a sample by its name, which is shorter."""
    return field.write(value) if isinstance(field, Text) else exact_text(value)


def value_at(
    context: CalculatorContext, settings: Mapping[str, str], output: str
) -> tuple[dict[str, Any], str]:
    """Return (view JSON, receipt) of an output at other inputs (SI texts).

    Raises:
        ContentError: an input does not exist or its value is not allowed.
    """
    request = {"only": [output], "want": {"receipts": [output]}}
    result = reply({"calculator": context.name, "values": dict(settings), **request})
    errors = result["problems"] or [
        f"{context.name}.{name}: {entry['error']}" + _unit_hint(context.name, name, settings)
        for name, entry in result["inputs"].items()
        if entry["error"]
    ]
    if errors:
        raise ContentError(errors[0])
    return result["outputs"][output], result["extra"]["receipts"][output]


def _unit_hint(calculator: str, name: str, settings: Mapping[str, str]) -> str:
    field = calculators.load(calculator).fields[name]
    return unit_hint(name, field, settings[name]) if name in settings else ""


def context_digest(context: CalculatorContext) -> str:
    """Return the digest of everything that an article can show of a calculator."""
    parts = (
        context.title,
        context.question,
        context.fields,
        context.outputs,
        context.presets,
        context.job,
        context.reply,
    )
    return digest(map(repr, (*parts, context.equations)))


def output_sources(context: CalculatorContext) -> dict[str, tuple[str, ...]]:
    """Return output -> sources that it can cite with any options."""
    return sources_by_output(context.name, context.views)


def _holds_nan(part: object) -> bool:
    """Return whether a view holds NaN; a gap in a curve is infinite instead."""
    if isinstance(part, float):
        return math.isnan(part)
    if isinstance(part, str | int):
        return False
    if isinstance(part, Mapping):
        return any(map(_holds_nan, part.values()))
    if isinstance(part, tuple | list):
        return any(map(_holds_nan, part))
    kind: Any = type(part)
    return any(_holds_nan(getattr(part, name)) for name in _field_names(kind))


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """Return the field names of a dataclass, none for another type."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def _context_problems(context: CalculatorContext) -> list[str]:
    shared_names = sorted(set(context.views) & {field.name for field in context.fields})
    messages = [
        f"'{name}' is both an input and an output of {context.name}" for name in shared_names
    ]
    declared = {equation.name for equation in context.equations}
    for name, view in context.views.items():
        if _holds_nan(view) and not isinstance(view, Heatmap):  # a cell may be empty
            messages.append(f"output '{name}' holds NaN, which is no number")
        equation = view.receipt.equation if isinstance(view, Value) else None
        equation = view.equation if isinstance(view, Formula) else equation
        if equation is not None and equation.name not in declared:
            messages.append(
                f"output '{name}' shows the equation '{equation.name}', not in EQUATIONS"
            )
    return messages


# Embed pages: one page per calculator, `embed/NAME/`, for iframes on other sites.

EMBED_KIND, EMBED_TEMPLATE = "embed", "embed.html"


def embed_articles(
    theme: Path, calculators: Mapping[str, CalculatorContext]
) -> tuple[Article, ...]:
    """Return generated articles that hold one calculator each.

    A theme without a template for them has none.
    """
    if not (theme / "templates" / EMBED_TEMPLATE).is_file():
        return ()
    return tuple(
        Article(
            source=f"embed/{calculator.name}",
            slug=f"embed-{calculator.name}",
            url=f"embed/{calculator.name}/",
            kind=EMBED_KIND,
            title=calculator.title,
            question=calculator.question,
            summary=calculator.question,
            text=f"[[{calculator.name}]]",
            body=f"[[{calculator.name}]]",
        )
        for calculator in calculators.values()
    )
