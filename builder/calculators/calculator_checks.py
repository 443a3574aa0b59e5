"""What is wrong in how a calculator is declared, and what it answers at its defaults.

A calculator that keeps these rules can still compute nonsense; one that breaks them would end in a
traceback of the generator, or show a reader what nobody meant.
"""

from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

from builder.calculators import calculator_context, view_checks
from builder.calculators.calculator_context import Live
from builder.calculators.source_locations import Places
from builder.calculators.value_checks import suits, types, unfit, unfitting
from builder.core.problem import Problem
from engine import calculator as calculators
from engine.answer import solved
from engine.calculator import Calculator, make
from engine.core.inputs import Field, Number
from engine.core.outputs import Told, Undeclared
from engine.core.units import Quantity

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
    _refuse(view_checks.problems(calculator, found.views, at))
    return found, [*wrong, *view_checks.of_challenges(calculator, found.views, at)]


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
        return view_checks.problems(calculator, views, at)
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
