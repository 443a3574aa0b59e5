"""Placements in articles: parses `[[calculator.member a=1|also]]` and finds its calculator."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from builder.calculators import calculator_context
from builder.calculators.calculator_context import CalculatorContext
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
    """A parsed placement; `member` is an input or output, "" for the whole calculator."""

    calculator: str
    member: str
    settings: Mapping[str, str]
    also: bool


def parse(text: str) -> Placement:
    """Return the placement written between the double brackets.

    Raises:
        ContentError: it is not of the form `calculator.member name=value|also`.
    """
    match = _INSIDE.fullmatch(text.strip())
    if not match:
        raise ContentError(
            f"'[[{text}]]' is no placement; write [[calculator]], [[calculator.output]], "
            "[[calculator.input]], [[calculator.output input=value]] or [[calculator.output|also]]"
        )
    return Placement(
        calculator=match["calculator"],
        member=match["member"] or "",
        settings=dict(pair.split("=", 1) for pair in match["rest"].split()),
        also=bool(match["also"]),
    )


def find_calculator(
    placement: Placement, load: Callable[[str], CalculatorContext]
) -> CalculatorContext:
    """Return the calculator that a placement names.

    Raises:
        ContentError: there is no such calculator, input or output.
    """
    if placement.calculator not in calculator_context.calculator_names():
        known = ", ".join(calculator_context.calculator_names()) or "none"
        raise ContentError(f"no calculator '{placement.calculator}'; there are {known}")
    calculator = load(placement.calculator)
    inputs = [field.name for field in calculator.fields]
    if placement.member and placement.member not in (INPUTS, *inputs, *calculator.outputs):
        raise ContentError(
            f"{calculator.name} has no input or output '{placement.member}'; its inputs are "
            f"{', '.join(inputs)}; its outputs are {', '.join(calculator.outputs)}"
        )
    return calculator


def check_block(placement: Placement) -> None:
    """Raise `ContentError` for a placement that is only allowed in a sentence."""
    whole = not placement.member and set(placement.settings) <= {"without"}
    if placement.also or (placement.settings and not whole):
        raise ContentError("a placement with settings or '|also' has to stand in a sentence")


def without_outputs(placement: Placement, calculator: CalculatorContext) -> CalculatorContext:
    """Return the calculator without the outputs that its placement omits.

    Raises:
        ContentError: it has no such output.
    """
    names = placement.settings.get("without", "").split(",")
    unknown = [name for name in names if name and name not in calculator.outputs]
    if unknown:
        raise ContentError(
            f"{calculator.name} has no output '{unknown[0]}' to leave out; its outputs are "
            f"{', '.join(calculator.outputs)}"
        )
    outputs = {name: view for name, view in calculator.outputs.items() if name not in names}
    return replace(calculator, outputs=outputs)


def check_sentence(placement: Placement, calculator: CalculatorContext) -> None:
    """Raise `ContentError` for a placement that is not allowed in a sentence."""
    name = f"{placement.calculator}.{placement.member}".rstrip(".")
    view = calculator.outputs.get(placement.member)
    kind = view["kind"] if view else ("input" if placement.member else "calculator")
    kind = "calculator" if placement.member == INPUTS else kind
    if any(field.name == placement.member and field.kind == "text" for field in calculator.fields):
        kind = "text"
    if kind not in (*_IN_SENTENCES, "input"):
        raise ContentError(
            f"'{name}' ({kind}) cannot stand in a sentence; give it a paragraph of its own"
        )
    if (placement.settings or placement.also) and kind != "value":
        options = " ".join(f"{key}={text}" for key, text in placement.settings.items()) or "|also"
        raise ContentError(f"'{name}' ({kind}) is no computed number, so '{options}' says nothing")
    if placement.also and view and not view["also"]:
        raise ContentError(f"'{name}' is no size in bytes; '|also' shows GiB beside GB")
