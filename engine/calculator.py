"""A calculator is declared once: a module in `engine/calculators` with inputs and a pure function.

The module holds `TITLE`, `QUESTION`, a frozen dataclass `Inputs` whose annotations carry a
`Number`, `Choice`, `Switch` or `Order`, and `compute(inputs) -> dict[str, View]`. Optional:
`PRESETS` (name -> changed inputs) and `EQUATIONS` (every equation its receipts can show).
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any, get_type_hints

from engine import discover
from engine.equation import Equation
from engine.inputs import Field, InputError, Scalar
from engine.text import plain
from engine.views import View

PACKAGE = "engine.calculators"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculator:
    """The declaration, read from the module once."""

    name: str
    title: str
    question: str
    inputs: type[Any]
    fields: Mapping[str, Field]
    defaults: Mapping[str, Scalar]
    compute: Callable[[Any], dict[str, View]]
    presets: Mapping[str, Mapping[str, Scalar]]
    equations: tuple[Equation, ...]


def names() -> tuple[str, ...]:
    """Return the names of all calculators, sorted."""
    return discover.names(PACKAGE)


@cache
def load(name: str) -> Calculator:
    """Return the calculator `name`.

    Raises:
        LookupError: there is no such calculator.
    """
    module = discover.module(PACKAGE, name)
    hints = get_type_hints(module.Inputs, include_extras=True)
    declared = {key: hint.__metadata__[0] for key, hint in hints.items()}
    return Calculator(
        name=name,
        title=module.TITLE,
        question=module.QUESTION,
        inputs=module.Inputs,
        fields=declared,
        defaults={f.name: f.default for f in fields(module.Inputs) if f.default is not MISSING},
        compute=module.compute,
        presets=getattr(module, "PRESETS", {}),
        equations=getattr(module, "EQUATIONS", ()),
    )


def field_of(calculator: Calculator, name: str) -> Field:
    """Return the declaration of an input.

    Raises:
        InputError: there is no such input.
    """
    if name not in calculator.fields:
        raise InputError(
            f"{calculator.name} has no input '{name}'; there are {', '.join(calculator.fields)}"
        )
    return calculator.fields[name]


def make(calculator: Calculator, values: Mapping[str, Scalar]) -> Any:  # noqa: ANN401 (its Inputs)
    """Return the calculator's Inputs with `values` (SI) in place of the defaults."""
    return calculator.inputs(**{**calculator.defaults, **values})


def changed(calculator: Calculator, values: Mapping[str, Scalar]) -> dict[str, str]:
    """Return the values that differ from the defaults as exact SI texts, in declaration order."""
    return {
        name: plain(values[name])
        for name in calculator.fields
        if name in values and values[name] != calculator.defaults[name]
    }
