"""Which values an input takes: those of a default, of a preset, of a challenge."""

from collections.abc import Iterator, Mapping
from typing import Any, get_origin

from engine.calculator import Calculator
from engine.core.input_errors import listed, quoted
from engine.core.inputs import Choice, Field, InputError, Number, Scalar, Switch, Text


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
