"""Placements: `[[calculator.member a=1|also]]` in prose, read and matched with what there is."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from builder.calculators import calculator_context
from builder.calculators.calculator_context import Live
from builder.core.problem import ContentError

PATTERN = r"\[\[([a-z_][^\[\]\n]*)\]\]"
_INSIDE = re.compile(
    r"(?P<calculator>\w+)(?:\.(?P<member>\w+))?(?P<rest>(?:\s+\w+=[^\s|]+)*)(?P<also>\|also)?"
)
_IN_SENTENCES = ("value", "badge")
# In place of a member: all inputs of a calculator whose outputs stand elsewhere on the page.
INPUTS = "inputs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """What one placement asks for; `member` is an input or output, "" for the whole calculator."""

    calculator: str
    member: str
    settings: Mapping[str, str]
    also: bool


def parse(inside: str) -> Placement:
    """Return the placement written between the double brackets.

    Raises:
        ContentError: it is not of the form `calculator.member name=value|also`.
    """
    found = _INSIDE.fullmatch(inside.strip())
    if not found:
        raise ContentError(
            f"'[[{inside}]]' is no placement; write [[calculator]], [[calculator.output]], "
            "[[calculator.input]], [[calculator.output input=value]] or [[calculator.output|also]]"
        )
    return Placement(
        calculator=found["calculator"],
        member=found["member"] or "",
        settings=dict(pair.split("=", 1) for pair in found["rest"].split()),
        also=bool(found["also"]),
    )


def calculator_of(placement: Placement, load: Callable[[str], Live]) -> Live:
    """Return the calculator that a placement names.

    Raises:
        ContentError: there is no such calculator, input or output.
    """
    if placement.calculator not in calculator_context.names():
        there = ", ".join(calculator_context.names()) or "none"
        raise ContentError(f"no calculator '{placement.calculator}'; there are {there}")
    found = load(placement.calculator)
    inputs = [field.name for field in found.fields]
    if placement.member and placement.member not in (INPUTS, *inputs, *found.outputs):
        raise ContentError(
            f"{found.name} has no input or output '{placement.member}'; its inputs are "
            f"{', '.join(inputs)}; its outputs are {', '.join(found.outputs)}"
        )
    return found


def check_block(placement: Placement) -> None:
    """Refuse what only a sentence can hold."""
    whole = not placement.member and set(placement.settings) <= {"without"}
    if placement.also or (placement.settings and not whole):
        raise ContentError("a placement with settings or '|also' has to stand in a sentence")


def without(placement: Placement, found: Live) -> Live:
    """Return the calculator less the outputs that its placement leaves out.

    Raises:
        ContentError: it has no such output.
    """
    names = placement.settings.get("without", "").split(",")
    unknown = [name for name in names if name and name not in found.outputs]
    if unknown:
        raise ContentError(
            f"{found.name} has no output '{unknown[0]}' to leave out; its outputs are "
            f"{', '.join(found.outputs)}"
        )
    kept = {name: view for name, view in found.outputs.items() if name not in names}
    return replace(found, outputs=kept)


def check_sentence(placement: Placement, found: Live) -> None:
    """Refuse what cannot stand in a sentence, and settings where nothing is computed."""
    name = f"{placement.calculator}.{placement.member}".rstrip(".")
    view = found.outputs.get(placement.member)
    kind = view["kind"] if view else ("input" if placement.member else "calculator")
    kind = "calculator" if placement.member == INPUTS else kind
    if any(field.name == placement.member and field.kind == "text" for field in found.fields):
        kind = "text"
    if kind not in (*_IN_SENTENCES, "input"):
        raise ContentError(
            f"'{name}' ({kind}) cannot stand in a sentence; give it a paragraph of its own"
        )
    if (placement.settings or placement.also) and kind != "value":
        given = " ".join(f"{key}={text}" for key, text in placement.settings.items()) or "|also"
        raise ContentError(f"'{name}' ({kind}) is no computed number, so '{given}' says nothing")
    if placement.also and view and not view["also"]:
        raise ContentError(f"'{name}' is no size in bytes; '|also' shows GiB beside GB")
