"""The numbers of a receipt, put into its equation, give the number that the receipt is for."""

import math
import random
import re

import pytest

from engine.calculator import load, make, names
from engine.inputs import Choice, Number
from engine.views import Value

# Not the left side: a part of the sum on the right, or what the equation was solved for.
OTHER_SIDE = {"bandwidth_part", "latency_part", "largest"}
# Three equations in one.
MANY = {"fit_two_points"}
WORDS = (
    (r"\left\lceil \log_2", " math.ceil(math.log2("),
    (r"\right\rceil", "))"),
    (r"\left(", "("),
    (r"\right)", ")"),
    (r"\max", " max"),
    (r"\,", " "),
    (r"\;", " "),
)
TOKEN = re.compile(r's\["\w+"\]|\d+|math\.\w+|max|[()+\-/,]')


def braces(tex, start):
    """The text between the braces that open at `start`, and where it goes on behind them."""
    depth = 0
    for end in range(start, len(tex)):
        depth += (tex[end] == "{") - (tex[end] == "}")
        if not depth:
            return tex[start + 1 : end], end + 1
    raise ValueError(f"unbalanced braces in {tex}")


def unfolded(tex):
    r"""The TeX with \v{x} as s["x"] and fractions as quotients."""
    found, at = "", 0
    while at < len(tex):
        if tex.startswith(r"\v{", at):
            key, at = braces(tex, at + 2)
            found += f's["{key}"]'
        elif tex.startswith(r"\frac{", at):
            above, at = braces(tex, at + 5)
            below, at = braces(tex, at)
            found += f"(({unfolded(above)})/({unfolded(below)}))"
        else:
            found += tex[at]
            at += 1
    return found


def evaluated(tex, symbols):
    """The value of a right side of an equation; factors side by side are multiplied."""
    for word, python in WORDS:
        tex = tex.replace(word, python)
    code, before = "", ""
    for token in TOKEN.findall(unfolded(tex)):
        factor_before = before.isdigit() or before[-1:] in (")", "]")
        side_by_side = factor_before and token[0] in "(sm0123456789"
        code += ("*" if side_by_side else "") + token
        before = token
    return eval(code, {"math": math, "max": max, "s": symbols})  # noqa: S307 (our own equations)


def drawn(name, count=30):
    """The views of seeded combinations of inputs, the defaults first."""
    chance, calculator = random.Random(name), load(name)
    yield calculator.compute(make(calculator, {}))
    for _ in range(count):
        values = {
            key: field.at(chance.random())
            if isinstance(field, Number)
            else chance.choice(list(field.options) if isinstance(field, Choice) else [True, False])
            for key, field in calculator.fields.items()
        }
        yield calculator.compute(make(calculator, values))


def results(name):
    """(output, value or None, right side evaluated, left side) of every equation shown."""
    for views in drawn(name) if load(name).equations else ():
        for key, view in views.items():
            shown = view.receipt if isinstance(view, Value) else view
            equation = getattr(shown, "equation", None)
            if equation is None or equation.name in MANY:
                continue
            symbols = {symbol: value for symbol, (value, _) in shown.symbols.items()}
            left, right = equation.tex.split("=", 1)
            result = symbols[re.search(r"\\v\{(\w+)\}", left).group(1)]
            yield key, getattr(view, "value", None), evaluated(right, symbols), result


SHOWN = {name: found for name in names() if (found := list(results(name)))}


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"\frac{2(\v{n}-1)}{\v{n}}\,\frac{\v{S}}{\v{B}} + 2(\v{n}-1)\,\v{a}", 13.5),
        (r"2\left\lceil \log_2 \v{n} \right\rceil\,\v{a}", 4.0),
        (r"\max\left(\frac{\v{S}}{\v{n}},\; \v{S} - \v{B}\right)", 8.0),
    ],
)
def test_an_equation_is_computed_as_it_is_written(tex, expected):
    assert evaluated(tex, {"n": 4, "S": 10.0, "B": 2.0, "a": 1.0}) == expected


@pytest.mark.parametrize("name", SHOWN)
def test_the_numbers_of_a_receipt_give_its_result(name):
    wrong = [
        (key, right, left)
        for key, _, right, left in SHOWN[name]
        if not math.isclose(right, left, rel_tol=1e-9, abs_tol=1e-15) and math.isfinite(left)
    ]
    assert not wrong


@pytest.mark.parametrize("name", SHOWN)
def test_the_result_of_a_receipt_is_the_number_it_is_for(name):
    wrong = [
        (key, value, left)
        for key, value, _, left in SHOWN[name]
        if value not in (None, left)
        and key not in OTHER_SIDE
        and not math.isclose(value, left, rel_tol=1e-12)
    ]
    assert not wrong
