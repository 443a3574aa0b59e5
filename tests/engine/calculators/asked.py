"""What a calculator answers: its result, its views, and the text of a number."""

from engine.calculator import load, make
from engine.core.numbers import format_value


def solved(of, **changes):
    """The result of a calculator, given by its name or itself, with these inputs changed."""
    calculator = load(of) if isinstance(of, str) else of
    return calculator.solve(make(calculator, changes))


def views(of, **changes):
    """The views of a calculator, likewise."""
    calculator = load(of) if isinstance(of, str) else of
    return calculator.compute(make(calculator, changes))


def text(shown, output):
    """The number of an output as a page writes it."""
    return format_value(shown[output].value, shown[output].quantity)
