"""Numbers with where they come from, verdicts, formulas and listings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.core.equation import Equation
from engine.core.text import Text
from engine.core.units import Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A published figure for the same number, and why it differs.

    Attributes:
        text: its digits, computed by its own formula from the reader's inputs.
        reason: one sentence.
        source: key of the bibliography.
        claim: the row of the claims page.
    """

    text: Text
    reason: Text
    source: str
    claim: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Where a number comes from.

    Attributes:
        basis: "modelled", "measured", "datasheet", "definition" or "simulated".
        equation: the formula, if one gives it.
        symbols: symbol key -> (value, quantity) substituted into the equation.
        inputs: symbol key -> name of the input it comes from, for linked highlighting.
        assumptions: sentences.
        sources: keys of the bibliography, besides the equation's own.
        published: what others print for it.
    """

    basis: str = "modelled"
    equation: Equation | None = None
    symbols: Mapping[str, tuple[float, Quantity]] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    assumptions: tuple[Text, ...] = ()
    sources: tuple[str, ...] = ()
    published: Published | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A number with its label and receipt."""

    label: str
    value: float
    quantity: Quantity
    receipt: Receipt
    note: Text = ""
    color: str = "ink"


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A verdict: a short text, and a sentence that explains it."""

    text: str
    sentence: Text
    color: str = "ink"


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """An equation with the reader's numbers substituted, and its result."""

    title: str
    equation: Equation
    symbols: Mapping[str, tuple[float, Quantity]]
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A configuration to copy."""

    title: str
    language: str
    text: str
