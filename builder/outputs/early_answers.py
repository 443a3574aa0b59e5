"""What the home page's figure answers before Python has come: the engine's replies, step by step.

A reader who drags a number of the home page moves it in the steps of the engine's "nudge". The
replies to some of them are made here, one input at a time; the page shows the one it is asked for.
"""

import re
from typing import Any

from engine import calculator as calculators
from engine.answer import reply
from engine.core.inputs import Number

FILE = "early.json"
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # to either side of the default
_INPUT = re.compile(r'<input class="drag" name="(\w+)" data-of="(\w+)"')
_OUTPUT = re.compile(r'data-of="(\w+)" data-output="(\w+)"|#receipt-([a-z0-9_]+)-(\w+)"')


Placed = dict[str, tuple[list[str], list[str]]]  # calculator -> inputs, outputs


def placed_numbers(html: str) -> Placed:
    """Return calculator -> the inputs that can be dragged on a page and the outputs it shows."""
    inputs: dict[str, set[str]] = {}
    for name, calculator in _INPUT.findall(html):
        inputs.setdefault(calculator, set()).add(name)
    outputs: dict[str, set[str]] = {}
    for of, output, numbered, number in _OUTPUT.findall(html):
        outputs.setdefault(of or numbered, set()).add(output or number)
    return {
        calculator: (sorted(names), sorted(outputs[calculator]))
        for calculator, names in sorted(inputs.items())
        if calculator in outputs
    }


def early_answers(placed: Placed) -> dict[str, Any]:
    """Return calculator -> its answers.

    `inputs` maps an input to its rows (steps, value, reply) in order, that of no step among them;
    `outputs` names what every reply holds.
    """
    return {name: _answers(name, *numbers) for name, numbers in placed.items()}


def _answers(name: str, inputs: list[str], outputs: list[str]) -> dict[str, Any]:
    calculator = calculators.load(name)
    asked = {"calculator": name, "only": outputs, "short": True, "headline": True}
    default = reply(asked)
    rows = {
        key: _rows(asked, key, default)
        for key in inputs
        if isinstance(calculator.fields[key], Number)
    }
    return {"inputs": rows, "outputs": sorted({*outputs, calculator.headline})}


def _rows(asked: dict[str, Any], key: str, default: dict[str, Any]) -> list[list[Any]]:
    """Return (steps, value, reply) of the default and of some steps from it, until the limits."""
    rows = {default["inputs"][key]["value"]: (0, default)}
    for steps in sorted((*STEPS, *(-step for step in STEPS)), key=abs):
        answer = reply(asked | {"nudge": {key: steps}})
        rows.setdefault(answer["inputs"][key]["value"], (steps, answer))
    return sorted([steps, value, answer] for value, (steps, answer) in rows.items())
