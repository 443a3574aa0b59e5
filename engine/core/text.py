"""Sentences with numbers in them, written when the reader's units are known."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.core.numbers import DEFAULT, NAMED, Display, show
from engine.core.units import Quantity, as_given

# What is counted, where there is only one of it: "{n} GPUs" becomes "1 GPU".
_ONE = re.compile(
    r"(?<![\w.,\u2212-])1 (?:[a-z]+-[a-z]+ )?(GPUs|nodes|ports|buckets|micro-batches|stages|steps"
    r"|rounds|layers|ranks|samples|tokens|reads|hops|messages|pieces|latencies|cells|chunks"
    r"|all-reduces|SMs|copies|replicas|kernels|experts|sequences|groups|links|leaves)\b"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text with numbers in it, e.g. Sentence("moves {size} per GPU", {"size": (14e9, BYTES)})."""

    template: str
    numbers: Mapping[str, tuple[float, Quantity]] = field(default_factory=dict)


Text = str | Sentence


def say(template: str, **numbers: tuple[float, Quantity]) -> Sentence:
    """Return a sentence whose numbers are written when the reader's units are known."""
    return Sentence(template, numbers)


def literal(text: str) -> str:
    """Return a reader's text for a template, in which braces mean numbers."""
    return text.replace("{", "{{").replace("}", "}}")


def words(text: Text, display: Display = DEFAULT, *, space: str = " ") -> str:
    """Return the sentence with its numbers in the reader's units, `space` before each unit."""
    if isinstance(text, str):
        return text
    said = text.template.format_map(
        {
            key: show(value, quantity, display).replace(" ", space)
            for key, (value, quantity) in text.numbers.items()
        }
    )
    return _ONE.sub(_singular, said) if "1 " in said else said


def _singular(found: re.Match[str]) -> str:
    for ending, one in (("ies", "y"), ("ches", "ch"), ("leaves", "leaf"), ("s", "")):
        if found[0].endswith(ending):
            return found[0].removesuffix(ending) + one
    return found[0]


def as_printed(text: Text) -> Text:
    """Return a published text's sentence with the four digits that it prints, not with ours."""
    if isinstance(text, str):
        return text
    numbers = {key: (value, as_given(q, NAMED)) for key, (value, q) in text.numbers.items()}
    return Sentence(text.template, numbers)
