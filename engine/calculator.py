"""Calculators: discovery, loading and lazy views of NAME.py or NAME/calculator.py modules.

That package lies in the project's own (`engine.core.active_project`). The module holds `TITLE`,
`QUESTION`, `HEADLINE` (the output that the reader decides by), a frozen dataclass `Inputs` whose
annotations carry a `Number`, `Choice`, `Switch`, `Order` or `Text`, `solve(inputs) -> Result`, a
frozen record of the numbers to show, and `views(inputs, result)`, which tells them and computes
nothing. Optional: `PRESETS` (name -> changed inputs), `EQUATIONS` (every equation its receipts can
show), `search(inputs)` (what `solve` does, in slices, where it takes long), `SMALL` (inputs at
which a search is short), `FORMERLY` (name that an input once had -> its name today, "" if there is
no such input any more), `GROUPS` (heading -> the folded inputs under it, of a form with many).
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
from engine.core.parsing import exact_text
from engine.core.slices import SlicedRun, Slices
from engine.core.views import Badge, Value, View

PACKAGE_MODULE = "calculator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculator:
    """A calculator as its module declares it.

    Attributes:
        small: of a search, the inputs at which it is short; where every option is tried, these are.
    """

    name: str
    title: str
    question: str
    headline: str
    inputs: type[Any]
    fields: Mapping[str, Field]
    defaults: Mapping[str, Scalar]
    solve: Callable[[Any], Any]
    views: Callable[[Any, Any], Views]
    presets: Mapping[str, Mapping[str, Scalar]]
    equations: tuple[Equation, ...]
    formerly: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    small: Mapping[str, Scalar] = field(default_factory=dict)
    search: Callable[[Any], Slices[Any]] | None = None

    def compute(self, inputs: Any, only: Iterable[str] | None = None) -> dict[str, View]:  # noqa: ANN401
        """Return the views by name for its Inputs; `only` those named, if given."""
        return self.lazy(inputs).compute(only)

    def lazy(self, inputs: Any) -> "LazyViews":  # noqa: ANN401
        """Return the lazy views for its Inputs, already solved."""
        return LazyViews(self.views(inputs, self.solve(inputs)))

    def slices(self, inputs: Any) -> "Slices[LazyViews]":  # noqa: ANN401
        """Return the lazy views, solved in slices where the calculator has a search."""
        if not self.search:
            return self.lazy(inputs)
        return LazyViews(self.views(inputs, (yield from self.search(inputs))))


class LazyViews:
    """Views of solved inputs, each made on first access and cached."""

    def __init__(self, views: Views) -> None:
        self._views = dict(views)
        self._running: dict[str, SlicedRun[View]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all views, made or not."""
        return tuple(self._views)

    @property
    def ready(self) -> tuple[str, ...]:
        """The names of the views that are already made."""
        return tuple(name for name, view in self._views.items() if not callable(view))

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the ready views that are single numbers."""
        return tuple(name for name, view in self._views.items() if isinstance(view, Value))

    @property
    def in_words(self) -> tuple[str, ...]:
        """The names of the views that are numbers or badges, judged without making them."""
        return tuple(name for name, view in self._views.items() if _is_text_view(view))

    def compute(self, only: Iterable[str] | None = None) -> dict[str, View]:
        """Return the views by name; `only` those named, if given."""
        wanted = self._views if only is None else set(only)
        return {name: self._view(name) for name in self._views if name in wanted}

    def advance(self, name: str, should_pause: Callable[[], bool]) -> bool:
        """Make a view, in slices if it has them; return False if `should_pause()` came true first.

        False too if it is true right after: no time is left to write the view.
        """
        if name not in self._running and callable(view := self._views[name]):
            result = view()
            if not isinstance(result, Generator):
                self._views[name] = result
                return True
            self._running[name] = SlicedRun(result)
        if name in self._running:
            finished = self._running[name].until(should_pause)
            if finished is None:
                return False
            self._views[name] = finished
            del self._running[name]
            return not should_pause()
        return True

    def _view(self, name: str) -> View:
        self.advance(name, lambda: False)
        view = self._views[name]
        assert not callable(view)
        return view


def _is_text_view(view: object) -> bool:
    """Return whether a view is a number or badge; an unmade one by its function's return type."""
    if not callable(view):
        return isinstance(view, Value | Badge)
    kind = getattr(getattr(view, "func", view), "__annotations__", {}).get("return")
    if get_origin(kind) is Generator:  # in slices
        kind = get_args(kind)[-1]
    return not isinstance(kind, type) or issubclass(kind, Value | Badge)


def names() -> tuple[str, ...]:
    """Return the names of all calculators, sorted."""
    return tuple(registry.module_tree(active_project.CALCULATORS, PACKAGE_MODULE))


def module_of(name: str) -> str:
    """Return the dotted module that declares the calculator `name`.

    Raises:
        LookupError: there is no such calculator.
    """
    if name not in registry.module_tree(active_project.CALCULATORS, PACKAGE_MODULE):
        raise registry.unknown_name_error(active_project.CALCULATORS, name, names())
    return registry.module_tree(active_project.CALCULATORS, PACKAGE_MODULE)[name]


@cache
def load(name: str) -> Calculator:
    """Return the calculator `name`.

    Raises:
        LookupError: there is no such calculator.
    """
    module = importlib.import_module(module_of(name))
    hints = get_type_hints(module.Inputs, include_extras=True)
    input_fields = {
        key: next(mark for mark in hint.__metadata__ if isinstance(mark, Field))
        for key, hint in hints.items()
    }
    return Calculator(
        name=name,
        title=module.TITLE,
        question=module.QUESTION,
        headline=module.HEADLINE,
        inputs=module.Inputs,
        fields=input_fields,
        defaults={f.name: f.default for f in fields(module.Inputs) if f.default is not MISSING},
        solve=module.solve,
        views=module.views,
        presets=getattr(module, "PRESETS", {}),
        equations=getattr(module, "EQUATIONS", ()),
        formerly=getattr(module, "FORMERLY", {}),
        groups=getattr(module, "GROUPS", {}),
        small=getattr(module, "SMALL", {}),
        search=getattr(module, "search", None),
    )


def field_of(calculator: Calculator, name: str) -> Field:
    """Return the field declaration of an input.

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


def changed_inputs(calculator: Calculator, values: Mapping[str, Scalar]) -> dict[str, str]:
    """Return the non-default values as exact SI texts, in declaration order.

    They stand in links: of a text of the reader's own there is nothing.
    """
    texts = {
        name: _link_text(field, values[name])
        for name, field in calculator.fields.items()
        if name in values and values[name] != calculator.defaults[name]
    }
    return {name: text for name, text in texts.items() if text}


def _link_text(field: Field, value: Scalar) -> str:
    return field.linked(value) if isinstance(field, Text) else exact_text(value)
