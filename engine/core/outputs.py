"""Declared outputs: fields of a result carry label, unit and symbol; a presenter makes views.

The unit of a number is the type of its field, its label, symbol and note stand in the field's
`Output`, its receipt is that of the equation whose left side its symbol is, and sentences name
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
from engine.core.units import COUNT, RATIO, Quantity, with_digits
from engine.core.views import (
    Axis,
    Formula,
    Line,
    Lines,
    Point,
    Published,
    Receipt,
    Rule,
    Scale,
    Series,
    Value,
    View,
)

Figure = tuple[float, Quantity]
# A view that takes long is made when it is looked at, one that takes very long in slices.
Views = Mapping[str, View | Callable[[], View | Slices[View]]]


@dataclass(frozen=True, slots=True)
class Output:
    """The presentation of a result's field: `share: Annotated[Share, Output("Idle")]`.

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
    """A numeric field of a record: quantity, symbol in the equations, presentation."""

    quantity: Quantity
    symbol: str
    output: Output
    is_input: bool


@cache
def _fields(record: Hashable) -> Mapping[str, _Field]:
    """Return the fields of a record that hold a number."""
    hints = get_type_hints(record, include_extras=True)
    fields = {name: _field(hint) for name, hint in hints.items()}
    return {name: field for name, field in fields.items() if field is not None}


def _field(hint: Any) -> _Field | None:  # noqa: ANN401 (an annotation)
    if get_origin(hint) is tuple:  # a column: what it measures, its items do
        hint = get_args(hint)[0]
    marks = getattr(hint, "__metadata__", ())
    number = next((mark for mark in marks if isinstance(mark, Number)), None)
    output = next((mark for mark in marks if isinstance(mark, Output)), Output())
    quantity = next((mark for mark in marks if isinstance(mark, Quantity)), None)
    if number and quantity is None:
        quantity = number.unit.measures or (COUNT if number.whole else RATIO)
    elif quantity is None and getattr(hint, "__origin__", hint) is int:
        quantity = COUNT
    if quantity is None:
        return None
    keys = [mark.key for mark in marks if isinstance(mark, Symbol)]
    symbol = keys[0] if keys else number.symbol if number else output.symbol
    return _Field(with_digits(quantity) if number else quantity, symbol, output, number is not None)


class UndeclaredName(LookupError):
    """A field name or symbol that no record declares; the message is a whole sentence.

    Attributes:
        name: what was looked for.
        equation: whose symbol it is, "" where it is the name of a field.
    """

    def __init__(self, message: str, name: str, equation: str = "") -> None:
        super().__init__(message)
        self.name, self.equation = name, equation


class Presenter:
    """Builder of views for the numbers in a calculator's inputs and result."""

    def __init__(self, *records: Any, equations: Iterable[Equation] = ()) -> None:  # noqa: ANN401
        """Take records, the first of which that has a field is asked for it, and equations."""
        self._records = records
        self._fields: dict[str, tuple[Any, _Field]] = {}
        self._inputs: dict[str, Any] = {}
        self._names_by_symbol: dict[str, str] = {}
        # Of several that begin with one symbol, the first is the one that gives it.
        self._equations = {_left_symbol(equation): equation for equation in reversed((*equations,))}
        for record in records:
            for name, field in _fields(type(record)).items():  # type: ignore[arg-type]
                self._fields.setdefault(name, (record, field))
                if field.is_input:
                    self._inputs.setdefault(name, record)
                if field.symbol:
                    self._names_by_symbol.setdefault(field.symbol, name)

    def number(self, name: str) -> Figure:
        """Return the value and the quantity of a field."""
        record, field = self._lookup(name)
        return getattr(record, name), field.quantity

    def say(self, template: str, **numbers: Figure | str) -> Sentence:
        """Return a sentence that names fields; `numbers` gives others: a figure or a field."""
        named = {part for _, part, _, _ in Formatter().parse(template) if part}
        return Sentence(template, {name: self._figure(numbers.get(name, name)) for name in named})

    def fill_text(self, text: Text) -> Text:
        """Return a text with the fields that it names; a text without any is itself."""
        return self.say(text) if isinstance(text, str) and "{" in text else text

    def value(
        self,
        name: str,
        *,
        equation: Equation | None = None,
        symbols: Mapping[str, Figure | str] | None = None,
        **changes: Any,  # noqa: ANN401 (fields of Value, and of Output)
    ) -> Value:
        """Return the view of a field.

        Args:
            name: of the field.
            equation: of its receipt, if not the one whose left side its symbol is.
            symbols: symbol -> field or figure, where it is not the field that declares it.
            changes: attributes of `Output` or `Value` that depend on the inputs, or `published`.
        """
        record, field = self._lookup(name)
        output_changes = {key: changes.pop(key) for key in list(changes) if key in Output.__slots__}
        output = replace(field.output, **output_changes)
        equation = equation or (self._equations.get(field.symbol) if field.symbol else None)
        receipt = changes.pop("receipt", None) or self.receipt(
            equation,
            *output.assumes,
            basis=output.basis,
            sources=output.sources,
            published=changes.pop("published", None),
            **{field.symbol: name, **(symbols or {})} if equation else {},
        )
        return Value(
            label=output.label,
            value=changes.pop("value", getattr(record, name)),
            quantity=field.quantity,
            receipt=receipt,
            note=self.fill_text(output.note),
            color=output.color,
            **changes,
        )

    def values(self, *names: str) -> dict[str, Value]:
        """Return the values of fields, presented as declared."""
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
        """Return a receipt whose equation is filled from the fields with its symbols."""
        return Receipt(
            basis=basis,
            equation=equation,
            symbols=self.symbols(equation, **symbols) if equation else {},
            inputs=self.links(equation, **symbols) if equation else {},
            assumptions=tuple(self.fill_text(text) for text in assumes),
            sources=sources,
            published=published,
        )

    def formula(self, title: str, equation: Equation, **symbols: Figure | str) -> Formula:
        """Return the equation as a view, filled with numbers of the records."""
        return Formula(
            title=title,
            equation=equation,
            symbols=self.symbols(equation, **symbols),
            inputs=self.links(equation, **symbols),
        )

    def axis(
        self, name: str, label: str, *, low: float, high: float, scale: str = "linear"
    ) -> Axis:
        """Return a chart axis with the quantity of a field."""
        quantity = self._lookup(name)[1].quantity
        return Axis(label=label, quantity=quantity, low=low, high=high, scale=scale)

    def curve(  # noqa: PLR0913 (a declaration)
        self,
        title: str,
        *,
        over: Scale,
        shows: Scale,
        lines: Iterable[Line | Series],
        x: Iterable[float] = (),
        handle: str = "",
        at: float | None = None,
        now: Text | None = None,
        marked: bool = True,
        points: tuple[Point, ...] = (),
        rules: tuple[Rule, ...] = (),
        caption: Text = "",
    ) -> Lines:
        """Return the chart of outputs over an input, with its handle and a point at its value.

        Args:
            title: of the chart.
            over: the input, or a quantity with the input as `handle`.
            shows: the output that the curves show, or their quantity.
            lines: curves over `x`, or series with columns of their own.
            x: values of the input.
            handle: the input whose value the point has, if `over` names another number.
            at: where the point is, if it is not the value of the output.
            now: beside the point, if it is not the output's number; it may name fields.
            marked: whether there is a point; False too where `points` say where the reader is.
            points: before it.
            rules: reference lines.
            caption: under the chart.
        """
        handle = handle or str(over.of)
        column = tuple(map(float, x))
        across, up = self._scaled(over), self._scaled(shows)
        if marked:
            if now is None:
                now = f"{{{shows.of}}}" if at is None else Sentence("{y}", {"y": (at, up.quantity)})
            y = self.number(str(shows.of))[0] if at is None else at
            place = getattr(self._inputs[handle], handle)
            points += (Point(key="now", label=self.fill_text(now), x=place, y=y),)
        return Lines(
            title=title,
            x=across,
            y=up,
            series=tuple(_series(line, column) for line in lines),
            points=points,
            rules=rules,
            handle=handle,
            caption=caption,
        )

    def _scaled(self, scale: Scale) -> Axis:
        of, kind = scale.of, "log" if scale.log else "linear"
        quantity = self._lookup(of)[1].quantity if isinstance(of, str) else of
        return Axis(
            label=scale.label, quantity=quantity, low=scale.low, high=scale.high, scale=kind
        )

    def symbols(self, equation: Equation, **overrides: Figure | str) -> dict[str, Figure]:
        """Return the number of every symbol of an equation."""
        return {
            key: self._figure(overrides.get(key) or self._name_of_symbol(key, equation))
            for key in equation.symbols
        }

    def links(self, equation: Equation, **overrides: Figure | str) -> dict[str, str]:
        """Return the input behind each symbol of an equation, where there is one."""
        named = {
            key: overrides.get(key) or self._name_of_symbol(key, equation)
            for key in equation.symbols
        }
        linked = {
            key: self._linked_input(name) for key, name in named.items() if isinstance(name, str)
        }
        return {key: name for key, name in linked.items() if name}

    def _linked_input(self, name: str) -> str:
        field = self._lookup(name)[1]
        return name if field.is_input else field.output.of

    def _lookup(self, name: str) -> tuple[Any, _Field]:
        if name not in self._fields:
            kind = (
                "field" if not any(hasattr(record, name) for record in self._records) else "number"
            )
            message = f"'{name}' is no {kind} of {self._record_names()}; "
            message += f"there are {', '.join(self._fields)}"
            raise UndeclaredName(message, name)
        return self._fields[name]

    def _name_of_symbol(self, key: str, equation: Equation) -> str:
        if key not in self._names_by_symbol:
            raise UndeclaredName(
                f"equation '{equation.name}': no field has the symbol '{key}'; there are "
                + ", ".join(self._names_by_symbol),
                key,
                equation.name,
            )
        return self._names_by_symbol[key]

    def _record_names(self) -> str:
        return " or ".join(dict.fromkeys(type(record).__name__ for record in self._records))

    def _figure(self, figure: Figure | str) -> Figure:
        return self.number(figure) if isinstance(figure, str) else figure


def _series(line: Line | Series, x: tuple[float, ...]) -> Series:
    if isinstance(line, Series):
        return line
    return Series(
        key=line.key,
        label=line.label,
        x=x if line.x is None else tuple(map(float, line.x)),
        y=tuple(map(float, line.y)),
        color=line.color,
        dashed=line.dashed,
    )


def _left_symbol(equation: Equation) -> str:
    """Return the symbol on the left side of an equation."""
    return equation.tex.partition(r"\v{")[2].partition("}")[0]
