"""An input as the templates get it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.core.inputs import Choice, Number, Text
from engine.core.inputs import Field as Declaration

MANY = 5  # options of a choice: of more, a page has a few at once
LONGEST = 3  # of them: these say how wide the box is


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

    @property
    def at_once(self) -> Mapping[str, str]:
        """Return the options that a page has from the start; all come with the receipts.

        Nobody can open the box before a script is there. Of many, the page has the chosen one, and
        the longest, so that the box does not grow when the others come.
        """
        if len(self.options) <= MANY:
            return self.options
        by_length = sorted(self.options, key=lambda key: -len(self.options[key]))
        kept = {self.value, *by_length[:LONGEST]}
        return {key: text for key, text in self.options.items() if key in kept}


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
