"""The numbers of a receipt, put into its equation, give the number that the receipt is for."""

import math

import pytest

from engine.core.views import Value
from tests.engine.calculators.promises import promise
from tests.engine.calculators.tried import computed, recent
from tests.engine.equation_reader import evaluated, is_arithmetic, statements

# Not the left side: a part of the sum on the right, or what the equation was solved for.
OTHER_SIDE = {"bandwidth_part", "latency_part", "largest"}
# A bound, marked as one beside the number of the composed model: (calculator, output).
BOUNDS = {("gradient_sync", "all_reduce_time"), ("gradient_sync", "exposed_time")}
# Three equations in one.
MANY = {"fit_two_points"}


@recent
def results(name):
    """(output, value or None, right side evaluated, left side) of every equation shown."""
    return [found for views in computed(name) for found in _results(views)]


def _results(views):
    for key, view in views.items():
        shown = view.receipt if isinstance(view, Value) else view
        equation = getattr(shown, "equation", None)
        if equation is None or not is_held(equation):
            continue
        symbols = {symbol: value for symbol, (value, _) in shown.symbols.items()}
        left, right = next(statements(equation.tex, symbols))
        yield key, getattr(view, "value", None), right, symbols[left]


def is_held(equation):
    return equation.name not in MANY and is_arithmetic(equation.tex)


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"\frac{2(\v{n}-1)}{\v{n}}\,\frac{\v{S}}{\v{B}} + 2(\v{n}-1)\,\v{a}", 13.5),
        (r"2\left\lceil \log_2 \v{n} \right\rceil\,\v{a}", 4.0),
        (r"\left\lfloor \frac{\v{S}}{\v{n}} \right\rfloor", 2.0),
        (r"\max\left(\frac{\v{S}}{\v{n}},\; \v{S} - \v{B}\right)", 8.0),
        (r"2 \cdot 3\,\v{n}^2 \left\lceil \frac{\v{S}}{\v{n}} \right\rceil", 288.0),
        (r"\sqrt{2\,\v{B}}\left(1 + \v{S}/\v{n}\right)^{-1}", 2 / 3.5),
        (r"-e^{-(\v{a} + \v{B})/3}", -1 / math.e),
    ],
)
def test_an_equation_is_computed_as_it_is_written(tex, expected):
    assert evaluated(tex, {"n": 4, "S": 10.0, "B": 2.0, "a": 1.0}) == expected


@promise
def the_numbers_of_a_receipt_give_its_result(name):
    wrong = [
        (key, right, left)
        for key, _, right, left in results(name)
        if not math.isclose(right, left, rel_tol=1e-9, abs_tol=1e-15) and math.isfinite(left)
    ]
    assert not wrong


@promise
def the_result_of_a_receipt_is_the_number_it_is_for(name):
    wrong = [
        (key, value, left)
        for key, value, _, left in results(name)
        if value not in (None, left)
        and key not in OTHER_SIDE
        and (name, key) not in BOUNDS
        and not math.isclose(value, left, rel_tol=1e-12)
    ]
    assert not wrong
