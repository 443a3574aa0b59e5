"""An input as the templates get it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.basis.inputs import Choice, Number, Text
from engine.basis.inputs import Field as Declaration


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """What the box of a text is like: `samples` maps their names to what the reader sees."""

    samples: Mapping[str, str]
    placeholder: str
    rows: int
    files: str
    longest: int
    reader: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """An input: `value` is its SI text, `position` 0 to 1 on a slider (numbers only).

    `also`: option -> what other calculators call it.
    """

    name: str
    kind: str
    label: str
    symbol: str
    help: str
    advanced: bool
    text: str
    value: str
    position: float | None
    options: Mapping[str, str]
    also: Mapping[str, str]
    range: str
    box: Box | None


def field_of(name: str, declared: Declaration, entry: Mapping[str, Any]) -> Field:
    """Return an input as a calculator declares it, with what the engine's reply says of it."""
    choice = declared if isinstance(declared, Choice) else None
    return Field(
        name=name,
        kind=type(declared).__name__.lower(),
        label=declared.label,
        symbol=declared.symbol if isinstance(declared, Number) else "",
        help=declared.help,
        advanced=declared.advanced,
        text=entry["text"],
        value=entry["value"],
        position=entry["position"],
        options=dict(choice.options) if choice else {},
        also={option: name for name, option in choice.also.items()} if choice else {},
        range=declared.range_words(),
        box=_box(declared) if isinstance(declared, Text) else None,
    )


def _box(declared: Text) -> Box:
    return Box(
        samples={name: sample.title for name, sample in declared.samples.items()},
        placeholder=declared.placeholder,
        rows=declared.rows,
        files=declared.files,
        longest=declared.longest,
        reader=declared.reader,
    )
