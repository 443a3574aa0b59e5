"""Numbers told once: a record's fields say what its numbers are; the teller makes views of them.

The unit of a number is the type of its field, its label, symbol and note stand in the field's
`Told`, its receipt is that of the equation whose left side its symbol is, and sentences name
fields: "{num_gpus} GPUs for the whole run".
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from string import Formatter
from typing import Any, get_args, get_origin, get_type_hints

from engine.core.equation import Equation
from engine.core.inputs import Number
from engine.core.slices import Slices
from engine.core.text import Sentence, Text
from engine.core.units import COUNT, RATIO, Quantity, as_given
from engine.core.views import Axis, Formula, Published, Receipt, Value, View

Figure = tuple[float, Quantity]
# A view that takes long is made when it is looked at, one that takes very long in slices.
Views = Mapping[str, View | Callable[[], View | Slices[View]]]


@dataclass(frozen=True, slots=True)
class Told:
    """How a field of a result is told, beside its type: `share: Annotated[Share, Told("Idle")]`.

    Attributes:
        label: what the reader sees beside it.
        symbol: its key in the equations.
        note: a sentence under it; it may name fields.
        color: of the one color language.
        assumes: sentences of its receipt; they may name fields.
        sources: keys of the bibliography, besides those of its equation.
        basis: as in `Receipt`.
        of: the input that lights up with its symbol, where it is no input itself.
    """

    label: str = ""
    symbol: str = ""
    note: str = ""
    color: str = "ink"
    assumes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    basis: str = "modelled"
    of: str = ""


@dataclass(frozen=True, slots=True)
class Symbol:
    """The key of an input in the equations, where it is not the letter shown beside its label."""

    key: str


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a record: what it measures, its key in equations, how it is told."""

    quantity: Quantity
    symbol: str
    told: Told
    is_input: bool


@cache
def _fields(record: Hashable) -> Mapping[str, _Field]:
    """Return the fields of a record that hold a number."""
    hints = get_type_hints(record, include_extras=True)
    found = {name: _field(hint) for name, hint in hints.items()}
    return {name: one for name, one in found.items() if one is not None}


def _field(hint: Any) -> _Field | None:  # noqa: ANN401 (an annotation)
    if get_origin(hint) is tuple:  # a column: what it measures, its items do
        hint = get_args(hint)[0]
    marks = getattr(hint, "__metadata__", ())
    number = next((mark for mark in marks if isinstance(mark, Number)), None)
    told = next((mark for mark in marks if isinstance(mark, Told)), Told())
    quantity = next((mark for mark in marks if isinstance(mark, Quantity)), None)
    if number and quantity is None:
        quantity = number.unit.measures or (COUNT if number.whole else RATIO)
    elif quantity is None and getattr(hint, "__origin__", hint) is int:
        quantity = COUNT
    if quantity is None:
        return None
    keys = [mark.key for mark in marks if isinstance(mark, Symbol)]
    symbol = keys[0] if keys else number.symbol if number else told.symbol
    return _Field(as_given(quantity) if number else quantity, symbol, told, number is not None)


class Undeclared(LookupError):
    """A name or a symbol that no record has; the message is a whole sentence.

    Attributes:
        name: what was looked for.
        equation: whose symbol it is, "" where it is the name of a field.
    """

    def __init__(self, message: str, name: str, equation: str = "") -> None:
        super().__init__(message)
        self.name, self.equation = name, equation


class Teller:
    """Makes views of the numbers in a calculator's records: its inputs and what it solved."""

    def __init__(self, *records: Any, equations: Iterable[Equation] = ()) -> None:  # noqa: ANN401
        """Take records, the first of which that has a field is asked for it, and equations."""
        self._records = records
        self._of: dict[str, tuple[Any, _Field]] = {}
        self._keys: dict[str, str] = {}
        # Of several that begin with one symbol, the first is the one that gives it.
        self._equations = {_left(equation): equation for equation in reversed((*equations,))}
        for record in records:
            for name, one in _fields(type(record)).items():  # type: ignore[arg-type]
                self._of.setdefault(name, (record, one))
                if one.symbol:
                    self._keys.setdefault(one.symbol, name)

    def number(self, name: str) -> Figure:
        """Return the value and the quantity of a field."""
        record, one = self._known(name)
        return getattr(record, name), one.quantity

    def say(self, template: str, **numbers: Figure | str) -> Sentence:
        """Return a sentence that names fields; `numbers` gives others: a figure or a field."""
        named = {part for _, part, _, _ in Formatter().parse(template) if part}
        return Sentence(template, {name: self._figure(numbers.get(name, name)) for name in named})

    def told(self, text: Text) -> Text:
        """Return a text with the fields that it names; a text without any is itself."""
        return self.say(text) if isinstance(text, str) and "{" in text else text

    def value(
        self,
        name: str,
        *,
        equation: Equation | None = None,
        symbols: Mapping[str, Figure | str] | None = None,
        **changes: Any,  # noqa: ANN401 (fields of Value, and of Told)
    ) -> Value:
        """Return the view of a field.

        Args:
            name: of the field.
            equation: of its receipt, if not the one whose left side its symbol is.
            symbols: symbol -> field or figure, where it is not the field that declares it.
            changes: attributes of `Told` or `Value` that depend on the inputs, or `published`.
        """
        record, one = self._known(name)
        own = {key: changes.pop(key) for key in list(changes) if key in Told.__slots__}
        told = replace(one.told, **own)
        equation = equation or (self._equations.get(one.symbol) if one.symbol else None)
        given = changes.pop("receipt", None) or self.receipt(
            equation,
            *told.assumes,
            basis=told.basis,
            sources=told.sources,
            published=changes.pop("published", None),
            **{one.symbol: name, **(symbols or {})} if equation else {},
        )
        return Value(
            label=told.label,
            value=changes.pop("value", getattr(record, name)),
            quantity=one.quantity,
            receipt=given,
            note=self.told(told.note),
            color=told.color,
            **changes,
        )

    def values(self, *names: str) -> dict[str, Value]:
        """Return the views of fields that are told as declared."""
        return {name: self.value(name) for name in names}

    def receipt(
        self,
        equation: Equation | None,
        *assumes: Text,
        basis: str = "modelled",
        sources: tuple[str, ...] = (),
        published: Published | None = None,
        **symbols: Figure | str,
    ) -> Receipt:
        """Return a receipt whose equation is filled with the fields that its symbols name."""
        return Receipt(
            basis=basis,
            equation=equation,
            symbols=self.symbols(equation, **symbols) if equation else {},
            inputs=self.links(equation, **symbols) if equation else {},
            assumptions=tuple(self.told(text) for text in assumes),
            sources=sources,
            published=published,
        )

    def formula(self, title: str, equation: Equation, **symbols: Figure | str) -> Formula:
        """Return the equation with the records' numbers in it."""
        return Formula(
            title=title,
            equation=equation,
            symbols=self.symbols(equation, **symbols),
            inputs=self.links(equation, **symbols),
        )

    def axis(
        self, name: str, label: str, *, low: float, high: float, scale: str = "linear"
    ) -> Axis:
        """Return an axis for what a field measures."""
        quantity = self._known(name)[1].quantity
        return Axis(label=label, quantity=quantity, low=low, high=high, scale=scale)

    def symbols(self, equation: Equation, **given: Figure | str) -> dict[str, Figure]:
        """Return the numbers of an equation, by its symbols."""
        return {
            key: self._figure(given.get(key) or self._named(key, equation))
            for key in equation.symbols
        }

    def links(self, equation: Equation, **given: Figure | str) -> dict[str, str]:
        """Return symbol -> input, for the symbols of an equation that are inputs or follow one."""
        named = {key: given.get(key) or self._named(key, equation) for key in equation.symbols}
        linked = {key: self._input(name) for key, name in named.items() if isinstance(name, str)}
        return {key: name for key, name in linked.items() if name}

    def _input(self, name: str) -> str:
        one = self._known(name)[1]
        return name if one.is_input else one.told.of

    def _known(self, name: str) -> tuple[Any, _Field]:
        if name not in self._of:
            kind = "field" if not any(hasattr(one, name) for one in self._records) else "number"
            message = f"'{name}' is no {kind} of {self._kinds()}; there are {', '.join(self._of)}"
            raise Undeclared(message, name)
        return self._of[name]

    def _named(self, key: str, equation: Equation) -> str:
        if key not in self._keys:
            raise Undeclared(
                f"equation '{equation.name}': no field has the symbol '{key}'; there are "
                + ", ".join(self._keys),
                key,
                equation.name,
            )
        return self._keys[key]

    def _kinds(self) -> str:
        return " or ".join(dict.fromkeys(type(one).__name__ for one in self._records))

    def _figure(self, what: Figure | str) -> Figure:
        return self.number(what) if isinstance(what, str) else what


def _left(equation: Equation) -> str:
    """Return the symbol that an equation begins with: its left side."""
    return equation.tex.partition(r"\v{")[2].partition("}")[0]
