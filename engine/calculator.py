"""A calculator is declared once: NAME.py or NAME/calculator.py in a room of `calculators`.

That package lies in the project's own (`engine.core.active_project`). The module holds `TITLE`,
`QUESTION`, a frozen dataclass `Inputs` whose annotations carry a `Number`, `Choice`, `Switch`,
`Order` or `Text`, `solve(inputs) -> Result`, a frozen record of the numbers to show, and
`views(inputs, result)`, which tells them and computes nothing. Optional: `PRESETS` (name -> changed
inputs), `EQUATIONS` (every equation its receipts can show), `search(inputs)` (what `solve` does, in
slices, where it takes long), `SMALL` (inputs at which a search is short), `FORMERLY` (name that an
input once had -> its name today, "" if there is no such input any more).
"""

import importlib
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from engine.core import active_project, registry
from engine.core.equation import Equation
from engine.core.inputs import Field, InputError, Scalar, Text
from engine.core.outputs import Views
from engine.core.parsing import plain
from engine.core.slices import Running, Slices
from engine.core.views import Badge, Value, View

LEAF = "calculator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculator:
    """The declaration, read from the module once.

    Attributes:
        small: of a search, the inputs at which it is short; where every option is tried, these are.
    """

    name: str
    title: str
    question: str
    inputs: type[Any]
    fields: Mapping[str, Field]
    defaults: Mapping[str, Scalar]
    solve: Callable[[Any], Any]
    views: Callable[[Any, Any], Views]
    presets: Mapping[str, Mapping[str, Scalar]]
    equations: tuple[Equation, ...]
    formerly: Mapping[str, str] = field(default_factory=dict)
    small: Mapping[str, Scalar] = field(default_factory=dict)
    search: Callable[[Any], Slices[Any]] | None = None

    def compute(self, inputs: Any, only: Iterable[str] | None = None) -> dict[str, View]:  # noqa: ANN401
        """Return the views of its Inputs by name; `only` those named, if given."""
        return self.lazy(inputs).made(only)

    def lazy(self, inputs: Any) -> "Lazy":  # noqa: ANN401
        """Return the views of its Inputs, solved but not yet made."""
        return Lazy(self.views(inputs, self.solve(inputs)))

    def slices(self, inputs: Any) -> "Slices[Lazy]":  # noqa: ANN401
        """Return the same, solved in slices where the calculator is a search."""
        if not self.search:
            return self.lazy(inputs)
        return Lazy(self.views(inputs, (yield from self.search(inputs))))


class Lazy:
    """Views of solved inputs, each made when it is first looked at, and then kept."""

    def __init__(self, views: Views) -> None:
        self._views = dict(views)
        self._begun: dict[str, Running[View]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all views, made or not."""
        return tuple(self._views)

    @property
    def ready(self) -> tuple[str, ...]:
        """The names of the views that cost nothing more, for they are made."""
        return tuple(name for name, view in self._views.items() if not callable(view))

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the ready views that are single numbers."""
        return tuple(name for name, view in self._views.items() if isinstance(view, Value))

    @property
    def in_words(self) -> tuple[str, ...]:
        """The names of the views that are numbers or verdicts, as far as can be told unmade."""
        return tuple(name for name, view in self._views.items() if _is_in_words(view))

    def made(self, only: Iterable[str] | None = None) -> dict[str, View]:
        """Return the views by name; `only` those named, if given."""
        wanted = self._views if only is None else set(only)
        return {name: self._made(name) for name in self._views if name in wanted}

    def reach(self, name: str, enough: Callable[[], bool]) -> bool:
        """Return whether a view is made now; one in slices is not, if it was enough before.

        Nor if it is just enough: then there is no time left to write it.
        """
        if name not in self._begun and callable(view := self._views[name]):
            made = view()
            if not isinstance(made, Generator):
                self._views[name] = made
                return True
            self._begun[name] = Running(made)
        if name in self._begun:
            found = self._begun[name].until(enough)
            if found is None:
                return False
            self._views[name] = found
            del self._begun[name]
            return not enough()
        return True

    def _made(self, name: str) -> View:
        self.reach(name, lambda: False)
        view = self._views[name]
        assert not callable(view)
        return view


def _is_in_words(view: object) -> bool:
    """A view that is not made yet may be in words, unless its function says it is a figure."""
    if not callable(view):
        return isinstance(view, Value | Badge)
    kind = getattr(getattr(view, "func", view), "__annotations__", {}).get("return")
    if get_origin(kind) is Generator:  # in slices
        kind = get_args(kind)[-1]
    return not isinstance(kind, type) or issubclass(kind, Value | Badge)


def names() -> tuple[str, ...]:
    """Return the names of all calculators, sorted."""
    return tuple(registry.tree(active_project.CALCULATORS, LEAF))


def module_of(name: str) -> str:
    """Return the dotted module that declares the calculator `name`.

    Raises:
        LookupError: there is no such calculator.
    """
    if name not in registry.tree(active_project.CALCULATORS, LEAF):
        raise registry.unknown(active_project.CALCULATORS, name, names())
    return registry.tree(active_project.CALCULATORS, LEAF)[name]


@cache
def load(name: str) -> Calculator:
    """Return the calculator `name`.

    Raises:
        LookupError: there is no such calculator.
    """
    module = importlib.import_module(module_of(name))
    hints = get_type_hints(module.Inputs, include_extras=True)
    declared = {
        key: next(mark for mark in hint.__metadata__ if isinstance(mark, Field))
        for key, hint in hints.items()
    }
    return Calculator(
        name=name,
        title=module.TITLE,
        question=module.QUESTION,
        inputs=module.Inputs,
        fields=declared,
        defaults={f.name: f.default for f in fields(module.Inputs) if f.default is not MISSING},
        solve=module.solve,
        views=module.views,
        presets=getattr(module, "PRESETS", {}),
        equations=getattr(module, "EQUATIONS", ()),
        formerly=getattr(module, "FORMERLY", {}),
        small=getattr(module, "SMALL", {}),
        search=getattr(module, "search", None),
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
    """Return the values that differ from the defaults as exact SI texts, in declaration order.

    They stand in links: of a text of the reader's own there is nothing.
    """
    found = {
        name: _linked(field, values[name])
        for name, field in calculator.fields.items()
        if name in values and values[name] != calculator.defaults[name]
    }
    return {name: text for name, text in found.items() if text}


def _linked(field: Field, value: Scalar) -> str:
    return field.linked(value) if isinstance(field, Text) else plain(value)
