"""Sentences with numbers, rendered in the reader's units."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.core.numbers import DEFAULT, NAMED_DIGITS, Display, format_value
from engine.core.units import Quantity, with_digits

# What is counted, where there is only one of it: "{n} GPUs" becomes "1 GPU".
_SINGLE_COUNT = re.compile(
    r"(?<![\w.,\u2212-])1 (?:[a-z]+-[a-z]+ )?(GPUs|nodes|ports|buckets|micro-batches|stages|steps"
    r"|rounds|layers|ranks|samples|tokens|reads|hops|messages|pieces|latencies|cells|chunks"
    r"|all-reduces|SMs|copies|replicas|kernels|experts|sequences|groups|links|leaves)\b"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A template with numbers, e.g. Sentence("moves {size} per GPU", {"size": (14e9, BYTES)})."""

    template: str
    numbers: Mapping[str, tuple[float, Quantity]] = field(default_factory=dict)


Text = str | Sentence


def say(template: str, **numbers: tuple[float, Quantity]) -> Sentence:
    """Return a sentence with numbers, which are formatted when it is rendered."""
    return Sentence(template, numbers)


def escape_braces(text: str) -> str:
    """Return a text with braces doubled, for use in a sentence's template."""
    return text.replace("{", "{{").replace("}", "}}")


def joined(sentences: Sequence[Text]) -> Sentence:
    """Return several sentences as one text, their numbers kept."""
    template, numbers = [], {}
    for at, sentence in enumerate(sentences):
        if isinstance(sentence, str):
            template.append(escape_braces(sentence))
            continue
        part = sentence.template
        for key, number in sentence.numbers.items():
            part = part.replace(f"{{{key}}}", f"{{n{at}_{key}}}")
            numbers[f"n{at}_{key}"] = number
        template.append(part)
    return Sentence(" ".join(template), numbers)


def render_text(text: Text, display: Display = DEFAULT, *, space: str = " ") -> str:
    """Return the text with its numbers in the reader's units, `space` before each unit."""
    if isinstance(text, str):
        return text
    rendered = text.template.format_map(
        {
            key: format_value(value, quantity, display).replace(" ", space)
            for key, (value, quantity) in text.numbers.items()
        }
    )
    return _SINGLE_COUNT.sub(_to_singular, rendered) if "1 " in rendered else rendered


def _to_singular(match: re.Match[str]) -> str:
    for ending, singular in (("ies", "y"), ("ches", "ch"), ("leaves", "leaf"), ("s", "")):
        if match[0].endswith(ending):
            return match[0].removesuffix(ending) + singular
    return match[0]


def with_published_digits(text: Text) -> Text:
    """Return a published sentence whose numbers keep four digits."""
    if isinstance(text, str):
        return text
    numbers = {
        key: (value, with_digits(q, NAMED_DIGITS)) for key, (value, q) in text.numbers.items()
    }
    return Sentence(text.template, numbers)
