"""Checks of a calculator's declarations and of its results at the defaults.

A calculator that keeps these rules can still compute nonsense; one that breaks them would end in a
traceback of the generator, or show a reader what nobody meant.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

from builder.calculators import author_checks, calculator_context
from builder.calculators.calculator_context import CalculatorContext
from builder.calculators.source_locations import SourceLocations
from builder.core.problem import Problem
from builder.core.time_limit import TooSlowError, time_limit
from engine import calculator as calculators
from engine.answer import solved_views
from engine.calculator import Calculator, make
from engine.core import active_project
from engine.core.inputs import (
    Choice,
    Field,
    InputError,
    Number,
    Scalar,
    Switch,
    Text,
    Unit,
    list_options,
    quote,
)
from engine.core.numbers import format_value
from engine.core.outputs import Output, UndeclaredName
from engine.core.text import render_text
from engine.core.units import Quantity
from engine.core.views import (
    Axis,
    Badge,
    Bars,
    Challenge,
    Formula,
    Heatmap,
    Lines,
    Series,
    Table,
    Timeline,
    Value,
    View,
)


def input_problems(
    calculator: Calculator, values: Mapping[str, Scalar]
) -> Iterator[tuple[str, str]]:
    """Yield (input, message) for values that a calculator does not accept."""
    for name, value in values.items():
        if name not in calculator.fields:
            names = ", ".join(calculator.fields)
            yield name, f"{calculator.name} has no input '{name}'; there are {names}"
        elif message := value_problem(calculator.fields[name], value):
            yield name, f"{name}: {message}"


def value_problem(field: Field, value: object) -> str:
    """Return the reason for which an input refuses a value, "" if it accepts it."""
    kind = type(value).__name__
    if isinstance(field, Number):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{value!r} is a {kind}, not a number"
    elif kind not in python_types(field):
        return f"{value!r} is a {kind}; it has to be a {python_types(field)[0]}"
    try:
        _check_value(field, value)
    except InputError as error:
        return str(error)
    return ""


def _check_value(field: Field, value: Any) -> None:  # noqa: ANN401 (of the field's type)
    if isinstance(field, Number):
        field.check(value, field.show(value))
    elif isinstance(field, Choice):
        if value not in field.options:  # what `also` names is read, and is no value
            raise InputError(f"{quote(value)} is not among {list_options(list(field.options))}")
    elif isinstance(field, Text):
        field.read(field.write(value), typed=False)
    elif not isinstance(field, Switch):
        field.read(value, typed=False)


def python_types(field: Field) -> tuple[str, ...]:
    """Return the names of the Python types that an input of this kind can have."""
    if isinstance(field, Number):
        return ("int", "float") if field.whole else ("float",)
    return ("bool",) if isinstance(field, Switch) else ("str",)


def accepts_type(field: Field, kind: object) -> bool:
    """Return whether an input can have this type; generic types always pass."""
    plain = getattr(kind, "__supertype__", kind)  # of a NewType
    return get_origin(plain) is not None or getattr(plain, "__name__", "") in python_types(field)


LocatedMessage = tuple[str, str]  # (text in the source to locate, "" if none; message)


def view_problems(
    calculator: Calculator, views: Mapping[str, View], locations: SourceLocations
) -> list[Problem]:
    """Return the problems that prevent a calculator's views from being drawn or used.

    Args:
        calculator: the calculator.
        views: output -> view at the defaults.
        locations: where its source declares things.
    """
    problems: list[Problem] = []
    for name, view in views.items():
        for text, message in _view_problems(calculator, view):
            location = locations.find_output(name, type(view).__name__, text)
            problems.append(locations.problem(location, f"output '{name}': {message}"))
    return problems


def challenge_problems(
    calculator: Calculator, views: Mapping[str, View], locations: SourceLocations
) -> list[Problem]:
    """Return the problems of the challenges among the views; each solution is computed."""
    return [
        problem
        for name, view in views.items()
        if isinstance(view, Challenge)
        for problem in _one_challenge_problems(calculator, name, view, locations)
    ]


def _view_problems(calculator: Calculator, view: View) -> Iterator[LocatedMessage]:
    for side in ("x", "y", "axis", "curve_axis"):
        axis = getattr(view, side, None)
        if isinstance(axis, Axis) and (message := _axis_problem(axis)):
            yield axis.label, message
    if isinstance(view, Lines | Timeline):
        yield from _curve_problems(view.series if isinstance(view, Lines) else view.curves)
    if isinstance(view, Lines) and view.handle:
        yield from _handle_problems(calculator, view.handle)
    if isinstance(view, Timeline):
        for grip in view.grips:
            yield from _handle_problems(calculator, grip.input)
    if isinstance(view, Table):
        yield from _row_problems(view)


def _axis_problem(axis: Axis) -> str:
    low, high = (format_value(bound, axis.quantity) for bound in (axis.low, axis.high))
    span = f"the axis '{axis.label}' goes from {low} to {high}"
    if not axis.low < axis.high:
        return f"{span}; its high has to be above its low"
    if axis.scale != "linear" and axis.low <= 0:
        return f"{span} on a logarithmic scale, which has no place for zero and below"
    return ""


def _curve_problems(curves: tuple[Series, ...]) -> Iterator[LocatedMessage]:
    for curve in curves:
        if len(curve.x) != len(curve.y):
            yield (
                curve.key,
                f"series '{curve.key}' has {len(curve.x)} x and {len(curve.y)} y; "
                "they have to be as many",
            )


def _handle_problems(calculator: Calculator, handle: str) -> Iterator[LocatedMessage]:
    numbers = [name for name, field in calculator.fields.items() if isinstance(field, Number)]
    if handle not in numbers:
        kind = "number" if handle in calculator.fields else "input"
        yield handle, f"handle='{handle}' names no {kind}; there are {', '.join(numbers)}"


def _row_problems(table: Table) -> Iterator[LocatedMessage]:
    width = len(table.columns)
    for count, row in enumerate(table.rows, 1):
        if len(row) != width:
            yield (
                "",
                f"row {count} has {len(row)} cells and the table {width} columns: "
                + ", ".join(table.columns),
            )
            return


def _one_challenge_problems(
    calculator: Calculator, name: str, view: Challenge, locations: SourceLocations
) -> Iterator[Problem]:
    """Yield the problems of a challenge's start and solution."""
    parts = {"start": view.start, "solution": view.solution}
    problems = [
        locations.problem(locations.find_text(key, part), f"output '{name}': its {part}: {message}")
        for part, values in parts.items()
        for key, message in input_problems(calculator, values)
    ]
    yield from problems
    if problems:
        return
    unmet = _unmet_conditions(calculator, name, {**view.start, **view.solution})
    if unmet:
        message = f"output '{name}': its solution does not meet '{unmet[0]}'"
        yield locations.problem(locations.find_text("solution"), message)
    if not _unmet_conditions(calculator, name, view.start):
        message = f"output '{name}': its start meets all conditions already"
        yield locations.problem(locations.find_text("start"), message)


def _unmet_conditions(calculator: Calculator, name: str, values: Mapping[str, Scalar]) -> list[str]:
    """Return the texts of a challenge's conditions that these inputs do not meet."""
    inputs = make(calculator, values)
    view = solved_views(calculator.name, inputs).compute([name])[name]
    conditions = view.conditions if isinstance(view, Challenge) else ()
    return [render_text(condition.text) for condition in conditions if not condition.met]


def view_colors(views: Mapping[str, View]) -> tuple[tuple[str, str, str], ...]:
    """Return (output, kind of view, color) of every color in the views."""
    return tuple(
        dict.fromkeys(
            (name, type(view).__name__, color)
            for name, view in views.items()
            for color in _colors_of_view(view)
        )
    )


def _colors_of_view(view: View) -> Iterator[str]:
    if isinstance(view, Value | Badge):
        yield view.color
    if isinstance(view, Lines):
        yield from (series.color for series in view.series)
    if isinstance(view, Lines | Heatmap):
        yield from (point.color for point in view.points)
    if isinstance(view, Lines | Bars | Timeline):
        yield from (rule.color for rule in view.rules)
    if isinstance(view, Bars):
        yield from (part.color for bar in view.bars for part in bar.segments)
    if isinstance(view, Timeline):
        yield from (span.color for span in view.spans)
        yield from (curve.color for curve in view.curves)
        yield from (color for _, color in view.keys)


OWN_PACKAGE = "engine"
_INPUT_KINDS = "Number, Choice, Switch, Order, Text or Compact"
_FROZEN_DATACLASS = "@dataclass(frozen=True, slots=True, kw_only=True)"


class InvalidCalculator(Exception):
    """A calculator cannot be run; `problems` gives the reasons."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


def load_checked(name: str, takes: str = "") -> tuple[CalculatorContext, list[Problem]]:
    """Return the context of a calculator, as `load_without_sources` does, and all its problems.

    Args:
        name: of the calculator.
        takes: as in `Project.takes`.

    Raises:
        InvalidCalculator: it cannot be run.
    """
    locations = SourceLocations(name)
    _raise_if_any(_inputs_class_problems(import_module(calculators.module_of(name)), locations))
    calculator = calculators.load(name)
    _raise_if_any(
        [*_default_problems(calculator, locations), *_preset_problems(calculator, locations)]
    )
    try:
        with time_limit():
            views = solved_views(name, make(calculator, calculator.defaults)).compute()
            _raise_if_any([*author_checks.size_problems(views, locations)])
            _raise_if_any([*author_checks.drawing_problems(views, locations)])
            context, problems = calculator_context.load_without_sources(name, takes)
    except (InvalidCalculator, TooSlowError):
        raise
    except UndeclaredName as error:
        if error.equation:
            location = locations.find_text(error.name, error.equation)
            raise InvalidCalculator([locations.problem(location, str(error))]) from error
        raise
    except Exception:
        _raise_if_any(_failure_reasons(calculator, locations))
        raise
    _raise_if_any(
        [
            *_headline_problems(calculator, context.views, locations),
            *view_problems(calculator, context.views, locations),
        ]
    )
    if active_project.package() != OWN_PACKAGE:  # what the generator's own tests try
        source = calculator_context.source_path(name)
        _raise_if_any([*author_checks.symbol_problems(calculator, context.views, locations)])
        with time_limit():
            _raise_if_any([*author_checks.trial_problems(calculator, source, locations)])
    return context, [*problems, *challenge_problems(calculator, context.views, locations)]


def _headline_problems(
    calculator: Calculator, views: Mapping[str, View], locations: SourceLocations
) -> Iterator[Problem]:
    """Yield the problem of a headline that is no number, verdict or formula of the calculator."""
    if isinstance(views.get(calculator.headline), Value | Badge | Formula):
        return
    names = ", ".join(name for name, view in views.items() if isinstance(view, Value | Badge))
    message = f"HEADLINE '{calculator.headline}' names no number and no verdict"
    location = locations.find_text(calculator.headline, "HEADLINE")
    yield locations.problem(location, f"{message}; there are {names}")


def _raise_if_any(problems: list[Problem]) -> None:
    if problems:
        raise InvalidCalculator(problems)


def _inputs_class_problems(module: ModuleType, locations: SourceLocations) -> list[Problem]:
    """Return the problems of the `Inputs` class that prevent it from being read."""
    record = getattr(module, "Inputs", None)
    if not isinstance(record, type):  # said where it is loaded
        return []
    frozen = is_dataclass(record) and record.__dataclass_params__.frozen  # type: ignore[attr-defined]
    if not frozen:
        message = f"Inputs is no frozen dataclass; write {_FROZEN_DATACLASS} above it"
        return [locations.problem(locations.find_field("Inputs"), message)]
    defaults = {field.name: field.default for field in fields(record)}
    hints = get_type_hints(record, include_extras=True).items()
    messages = {key: _field_problem(key, hint, defaults.get(key, MISSING)) for key, hint in hints}
    return [
        locations.problem(locations.find_field("Inputs", key), message)
        for key, message in messages.items()
        if message
    ]


def _field_problem(key: str, hint: Any, default: object) -> str:  # noqa: ANN401 (an annotation)
    field = next((m for m in getattr(hint, "__metadata__", ()) if isinstance(m, Field)), None)
    if field is None:
        return f"input '{key}' is no input; it takes an Annotated[...] with {_INPUT_KINDS}"
    if default is MISSING:
        return f"input '{key}' has no default"
    if isinstance(field, Number) and not isinstance(field.unit, Unit):
        return f"input '{key}' has the unit {field.unit!r}; it has to be such as Unit(' s', 1.0)"
    if not accepts_type(field, hint.__origin__):
        kind, type_name = (
            type(field).__name__,
            getattr(hint.__origin__, "__name__", hint.__origin__),
        )
        allowed = " or ".join(python_types(field))
        return f"input '{key}' is a {kind} of the type {type_name}; it has to be {allowed}"
    return ""


def _default_problems(calculator: Calculator, locations: SourceLocations) -> list[Problem]:
    messages = {
        name: _default_problem(name, field, calculator.defaults[name])
        for name, field in calculator.fields.items()
    }
    return [
        locations.problem(locations.find_field("Inputs", name), message)
        for name, message in messages.items()
        if message
    ]


def _default_problem(name: str, field: Field, value: object) -> str:
    if isinstance(field, Number) and not field.low < field.high:
        span = f"input '{name}' goes from {field.low:g} to {field.high:g}"
        return f"{span}; its high has to be above its low"
    message = value_problem(field, value)
    return f"the default of input '{name}': {message}" if message else ""


def _preset_problems(calculator: Calculator, locations: SourceLocations) -> list[Problem]:
    return [
        locations.problem(
            locations.find_text(name, "PRESETS", title), f"preset '{title}': {message}"
        )
        for title, values in calculator.presets.items()
        for name, message in input_problems(calculator, values)
    ]


def _failure_reasons(calculator: Calculator, locations: SourceLocations) -> list[Problem]:
    """Return known reasons for a calculator to fail when its reply is written."""
    with suppress(Exception):  # the one that it failed with is told
        if found_problems := _result_problems(calculator, locations):
            return found_problems
        views = solved_views(calculator.name, make(calculator, calculator.defaults)).compute()
        return view_problems(calculator, views, locations)
    return []


def _result_problems(calculator: Calculator, locations: SourceLocations) -> list[Problem]:
    """Return the problems of number fields in the result that hold no numbers."""
    result = calculator.solve(make(calculator, calculator.defaults))
    record = type(result)
    return [
        locations.problem(
            locations.find_field(record.__name__, name),
            f"field '{name}' of {record.__name__} is {_short_repr(getattr(result, name))}; "
            "it has to hold numbers only",
        )
        for name, hint in get_type_hints(record, include_extras=True).items()
        if _is_number_type(hint) and not _all_numbers(getattr(result, name))
    ]


def _is_number_type(hint: object) -> bool:
    """Return whether a type hint is a number or a column of numbers."""
    if get_origin(hint) is tuple:
        items = [item for item in get_args(hint) if item is not ...]
        return len(items) == 1 and _is_number_type(items[0])
    marks = getattr(hint, "__metadata__", ())
    plain = getattr(hint, "__origin__", hint)
    return plain in (int, float) or any(isinstance(item, Output | Quantity) for item in marks)


def _all_numbers(value: object) -> bool:
    return all(
        isinstance(item, int | float) for item in (value if type(value) is tuple else [value])
    )


def _short_repr(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
