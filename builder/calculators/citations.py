"""Which sources the outputs of a calculator can name, whatever its reader chooses."""

from collections.abc import Mapping
from importlib import import_module

from engine import calculator as calculators
from engine.answer import solved
from engine.calculator import Calculator, make
from engine.core.inputs import Choice, Scalar, Switch
from engine.core.views import Cite, Receipt, Table, Value, View


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
