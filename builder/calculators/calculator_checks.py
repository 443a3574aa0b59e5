"""What is wrong in how a calculator is declared, and what it answers at its defaults.

A calculator that keeps these rules can still compute nonsense; one that breaks them would end in a
traceback of the generator, or show a reader what nobody meant.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

from builder.calculators import calculator_context
from builder.calculators.calculator_context import Live
from builder.calculators.source_locations import Places
from builder.core.problem import Problem
from engine import calculator as calculators
from engine.answer import solved
from engine.calculator import Calculator, make
from engine.core.input_errors import listed, quoted
from engine.core.inputs import Choice, Field, InputError, Number, Scalar, Switch, Text
from engine.core.numbers import show
from engine.core.outputs import Told, Undeclared
from engine.core.text import words
from engine.core.units import Quantity
from engine.core.views import (
    Axis,
    Badge,
    Bars,
    Challenge,
    Heatmap,
    Lines,
    Series,
    Table,
    Timeline,
    Value,
    View,
)


def unfitting(calculator: Calculator, values: Mapping[str, Scalar]) -> Iterator[tuple[str, str]]:
    """Yield (input, what is wrong) of values that a calculator does not take."""
    for name, value in values.items():
        if name not in calculator.fields:
            there = ", ".join(calculator.fields)
            yield name, f"{calculator.name} has no input '{name}'; there are {there}"
        elif wrong := unfit(calculator.fields[name], value):
            yield name, f"{name}: {wrong}"


def unfit(field: Field, value: object) -> str:
    """Return why an input cannot have this value, "" if it can."""
    kind = type(value).__name__
    if isinstance(field, Number):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{value!r} is a {kind}, not a number"
    elif kind not in types(field):
        return f"{value!r} is a {kind}; it has to be a {types(field)[0]}"
    try:
        _check(field, value)
    except InputError as error:
        return str(error)
    return ""


def _check(field: Field, value: Any) -> None:  # noqa: ANN401 (of the field's type)
    if isinstance(field, Number):
        field.check(value, field.show(value))
    elif isinstance(field, Choice):
        if value not in field.options:  # what `also` names is read, and is no value
            raise InputError(f"{quoted(value)} is not among {listed(list(field.options))}")
    elif isinstance(field, Text):
        field.read(field.write(value), typed=False)
    elif not isinstance(field, Switch):
        field.read(value, typed=False)


def types(field: Field) -> tuple[str, ...]:
    """Return the names of the types that an input of this kind can have."""
    if isinstance(field, Number):
        return ("int", "float") if field.whole else ("float",)
    return ("bool",) if isinstance(field, Switch) else ("str",)


def suits(field: Field, kind: object) -> bool:
    """Say whether a type is one of them; one that is made of others is not judged."""
    plain = getattr(kind, "__supertype__", kind)  # of a NewType
    return get_origin(plain) is not None or getattr(plain, "__name__", "") in types(field)


Fault = tuple[str, str]  # the text in the source that it is about, "" if none; message


def problems(calculator: Calculator, views: Mapping[str, View], at: Places) -> list[Problem]:
    """Return what is wrong in the views of a calculator, so that they cannot be drawn or used.

    Args:
        calculator: that made them.
        views: by output, of its defaults.
        at: the places of its source.
    """
    found: list[Problem] = []
    for name, view in views.items():
        for text, message in _wrong(calculator, view):
            place = at.of_output(name, type(view).__name__, text)
            found.append(at.problem(place, f"output '{name}': {message}"))
    return found


def of_challenges(calculator: Calculator, views: Mapping[str, View], at: Places) -> list[Problem]:
    """Return what is wrong in the challenges among the views; each is asked for its solution."""
    return [
        one
        for name, view in views.items()
        if isinstance(view, Challenge)
        for one in _of_challenge(calculator, name, view, at)
    ]


def _wrong(calculator: Calculator, view: View) -> Iterator[Fault]:
    for side in ("x", "y", "axis", "curve_axis"):
        axis = getattr(view, side, None)
        if isinstance(axis, Axis) and (wrong := _wrong_axis(axis)):
            yield axis.label, wrong
    if isinstance(view, Lines | Timeline):
        yield from _wrong_curves(view.series if isinstance(view, Lines) else view.curves)
    if isinstance(view, Lines) and view.handle:
        yield from _wrong_handle(calculator, view.handle)
    if isinstance(view, Table):
        yield from _wrong_rows(view)


def _wrong_axis(axis: Axis) -> str:
    low, high = (show(one, axis.quantity) for one in (axis.low, axis.high))
    spans = f"the axis '{axis.label}' goes from {low} to {high}"
    if not axis.low < axis.high:
        return f"{spans}; its high has to be above its low"
    if axis.scale != "linear" and axis.low <= 0:
        return f"{spans} on a logarithmic scale, which has no place for zero and below"
    return ""


def _wrong_curves(curves: tuple[Series, ...]) -> Iterator[Fault]:
    for one in curves:
        if len(one.x) != len(one.y):
            yield (
                one.key,
                f"series '{one.key}' has {len(one.x)} x and {len(one.y)} y; "
                "they have to be as many",
            )


def _wrong_handle(calculator: Calculator, handle: str) -> Iterator[Fault]:
    numbers = [name for name, one in calculator.fields.items() if isinstance(one, Number)]
    if handle not in numbers:
        kind = "number" if handle in calculator.fields else "input"
        yield handle, f"handle='{handle}' names no {kind}; there are {', '.join(numbers)}"


def _wrong_rows(table: Table) -> Iterator[Fault]:
    wide = len(table.columns)
    for count, row in enumerate(table.rows, 1):
        if len(row) != wide:
            yield (
                "",
                f"row {count} has {len(row)} cells and the table {wide} columns: "
                + ", ".join(table.columns),
            )
            return


def _of_challenge(
    calculator: Calculator, name: str, view: Challenge, at: Places
) -> Iterator[Problem]:
    """Yield what is wrong with where a challenge begins and how it is said to be met."""
    parts = {"start": view.start, "solution": view.solution}
    wrong = [
        at.problem(at.of_text(key, part), f"output '{name}': its {part}: {message}")
        for part, values in parts.items()
        for key, message in unfitting(calculator, values)
    ]
    yield from wrong
    if wrong:
        return
    unmet = _unmet(calculator, name, {**view.start, **view.solution})
    if unmet:
        message = f"output '{name}': its solution does not meet '{unmet[0]}'"
        yield at.problem(at.of_text("solution"), message)
    if not _unmet(calculator, name, view.start):
        message = f"output '{name}': its start meets all conditions already"
        yield at.problem(at.of_text("start"), message)


def _unmet(calculator: Calculator, name: str, values: Mapping[str, Scalar]) -> list[str]:
    """Return the conditions of a challenge that these inputs do not meet."""
    inputs = make(calculator, values)
    view = solved(calculator.name, inputs).made([name])[name]
    given = view.conditions if isinstance(view, Challenge) else ()
    return [words(one.text) for one in given if not one.met]


def colors(views: Mapping[str, View]) -> tuple[tuple[str, str, str], ...]:
    """Return (output, its kind, color) of every color that the views name."""
    return tuple(
        dict.fromkeys(
            (name, type(view).__name__, color)
            for name, view in views.items()
            for color in _colors(view)
        )
    )


def _colors(view: View) -> Iterator[str]:
    if isinstance(view, Value | Badge):
        yield view.color
    if isinstance(view, Lines):
        yield from (one.color for one in view.series)
    if isinstance(view, Lines | Heatmap):
        yield from (one.color for one in view.points)
    if isinstance(view, Lines | Bars | Timeline):
        yield from (one.color for one in view.rules)
    if isinstance(view, Bars):
        yield from (part.color for bar in view.bars for part in bar.segments)
    if isinstance(view, Timeline):
        yield from (one.color for one in view.spans)
        yield from (one.color for one in view.curves)
        yield from (color for _, color in view.keys)


_KINDS = "Number, Choice, Switch, Order, Text or Compact"
_FROZEN = "@dataclass(frozen=True, slots=True, kw_only=True)"


class Unsound(Exception):
    """A calculator that cannot be asked anything; `problems` say why."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


def read(name: str, takes: str = "") -> tuple[Live, list[Problem]]:
    """Return the calculator as `live.read_alone` does, with all that is wrong with it.

    Args:
        name: of the calculator.
        takes: as in `Project.takes`.

    Raises:
        Unsound: nothing can be asked of it.
    """
    at = Places(name)
    _refuse(_undeclared(import_module(calculators.module_of(name)), at))
    calculator = calculators.load(name)
    _refuse([*_wrong_defaults(calculator, at), *_wrong_presets(calculator, at)])
    try:
        found, wrong = calculator_context.read_alone(name, takes)
    except Undeclared as error:
        if error.equation:
            place = at.of_text(error.name, error.equation)
            raise Unsound([at.problem(place, str(error))]) from error
        raise
    except Exception:
        _refuse(_reasons(calculator, at))
        raise
    _refuse(problems(calculator, found.views, at))
    return found, [*wrong, *of_challenges(calculator, found.views, at)]


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise Unsound(problems)


def _undeclared(module: ModuleType, at: Places) -> list[Problem]:
    """Return what keeps the class of the inputs from being read."""
    record = getattr(module, "Inputs", None)
    if not isinstance(record, type):  # said where it is loaded
        return []
    frozen = is_dataclass(record) and record.__dataclass_params__.frozen  # type: ignore[attr-defined]
    if not frozen:
        message = f"Inputs is no frozen dataclass; write {_FROZEN} above it"
        return [at.problem(at.of_field("Inputs"), message)]
    default = {one.name: one.default for one in fields(record)}
    hints = get_type_hints(record, include_extras=True).items()
    wrong = {key: _wrong_field(key, hint, default.get(key, MISSING)) for key, hint in hints}
    return [at.problem(at.of_field("Inputs", key), said) for key, said in wrong.items() if said]


def _wrong_field(key: str, hint: Any, default: object) -> str:  # noqa: ANN401 (an annotation)
    mark = next((m for m in getattr(hint, "__metadata__", ()) if isinstance(m, Field)), None)
    if mark is None:
        return f"input '{key}' is no input; it takes an Annotated[...] with {_KINDS}"
    if default is MISSING:
        return f"input '{key}' has no default"
    if not suits(mark, hint.__origin__):
        kind, given = type(mark).__name__, getattr(hint.__origin__, "__name__", hint.__origin__)
        wanted = " or ".join(types(mark))
        return f"input '{key}' is a {kind} of the type {given}; it has to be {wanted}"
    return ""


def _wrong_defaults(calculator: Calculator, at: Places) -> list[Problem]:
    wrong = {
        name: _wrong_default(name, field, calculator.defaults[name])
        for name, field in calculator.fields.items()
    }
    return [at.problem(at.of_field("Inputs", name), said) for name, said in wrong.items() if said]


def _wrong_default(name: str, field: Field, value: object) -> str:
    if isinstance(field, Number) and not field.low < field.high:
        spans = f"input '{name}' goes from {field.low:g} to {field.high:g}"
        return f"{spans}; its high has to be above its low"
    wrong = unfit(field, value)
    return f"the default of input '{name}': {wrong}" if wrong else ""


def _wrong_presets(calculator: Calculator, at: Places) -> list[Problem]:
    return [
        at.problem(at.of_text(name, "PRESETS", title), f"preset '{title}': {wrong}")
        for title, values in calculator.presets.items()
        for name, wrong in unfitting(calculator, values)
    ]


def _reasons(calculator: Calculator, at: Places) -> list[Problem]:
    """Return what is known to make a calculator fail where its answer is written."""
    with suppress(Exception):  # the one that it failed with is told
        if wrong := _wrong_results(calculator, at):
            return wrong
        views = solved(calculator.name, make(calculator, calculator.defaults)).made()
        return problems(calculator, views, at)
    return []


def _wrong_results(calculator: Calculator, at: Places) -> list[Problem]:
    """Return the numbers of the result that are none."""
    result = calculator.solve(make(calculator, calculator.defaults))
    record = type(result)
    return [
        at.problem(
            at.of_field(record.__name__, name),
            f"field '{name}' of {record.__name__} is {_brief(getattr(result, name))}; "
            "it has to hold numbers only",
        )
        for name, hint in get_type_hints(record, include_extras=True).items()
        if _is_number(hint) and not _all_numbers(getattr(result, name))
    ]


def _is_number(hint: object) -> bool:
    """Say whether a field holds a number, or a column of them."""
    if get_origin(hint) is tuple:
        items = [one for one in get_args(hint) if one is not ...]
        return len(items) == 1 and _is_number(items[0])
    marks = getattr(hint, "__metadata__", ())
    plain = getattr(hint, "__origin__", hint)
    return plain in (int, float) or any(isinstance(one, Told | Quantity) for one in marks)


def _all_numbers(value: object) -> bool:
    return all(isinstance(one, int | float) for one in (value if type(value) is tuple else [value]))


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
