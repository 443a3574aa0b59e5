"""A default, a preset and a challenge have values that their inputs take."""

from typing import Literal, NewType

import pytest

from builder.calculators.calculator_checks import (
    accepts_type,
    input_problems,
    python_types,
    value_problem,
)
from engine.calculator import Calculator
from engine.core.inputs import Choice, Number, Order, Sample, Switch, Text

SHARE = Number(label="Share", low=1.0, high=10.0)
COUNT = Number(label="Count", low=1.0, high=10.0, whole=True)
KIND = Choice(label="Kind", options={"gas": "Gas", "power": "Power"}, also={"coal": "gas"})
FAN = Switch(label="Fan")
ORDER = Order(label="Order", items=("A", "B"))
NOTE = Text(label="Note", longest=3, samples={"long": Sample(title="Long", text="abcde")})
Seconds = NewType("Seconds", float)
Times = NewType("Times", list[float])


def calculator(**fields):
    return Calculator(
        name="oven",
        title="",
        question="",
        headline="",
        inputs=object,
        fields=fields,
        defaults={},
        solve=id,
        views=lambda _, __: {},
        presets={},
        equations=(),
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (SHARE, 1),
        (SHARE, 10.0),
        (SHARE, 2.5),
        (COUNT, 2),
        (COUNT, 2.0),
        (KIND, "gas"),
        (KIND, "power"),
        (FAN, True),
        (FAN, False),
        (ORDER, "B-A"),
        (NOTE, "abc"),
        # A sample is read by its name, however long it is.
        (NOTE, "abcde"),
    ],
)
def test_nothing_is_wrong_with_a_value_that_an_input_takes(field, value):
    assert value_problem(field, value) == ""


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        (SHARE, "5", "'5' is a str, not a number"),
        (SHARE, True, "True is a bool, not a number"),
        (COUNT, None, "None is a NoneType, not a number"),
        (SHARE, 11, "'11' is outside the range 1 to 10"),
        (SHARE, 0.5, "'0.5' is outside the range 1 to 10"),
        (COUNT, 2.5, "'2.5' is not a whole number; allowed is 1 to 10"),
        (KIND, 5, "5 is a int; it has to be a str"),
        (KIND, True, "True is a bool; it has to be a str"),
        (KIND, "wood", "'wood' is not among gas, power"),
        (KIND, "coal", "'coal' is not among gas, power"),
        (FAN, "on", "'on' is a str; it has to be a bool"),
        (FAN, 1, "1 is a int; it has to be a bool"),
        (ORDER, ("A", "B"), "('A', 'B') is a tuple; it has to be a str"),
        (ORDER, "A-C", "'c' is not among A, B"),
        (NOTE, "abcd", "4 characters; at most 3 are read"),
        (NOTE, 4, "4 is a int; it has to be a str"),
    ],
)
def test_a_value_that_an_input_does_not_take_is_named_with_what_it_takes(field, value, said):
    assert value_problem(field, value) == said


def test_values_are_named_with_their_input_in_their_order():
    oven = calculator(share=SHARE, kind=KIND)
    values = {"kind": "wood", "heat": 3.0, "share": 0}
    assert list(input_problems(oven, values)) == [
        ("kind", "kind: 'wood' is not among gas, power"),
        ("heat", "oven has no input 'heat'; there are share, kind"),
        ("share", "share: '0' is outside the range 1 to 10"),
    ]


def test_values_that_fit_are_not_named():
    assert list(input_problems(calculator(share=SHARE), {"share": 2.0})) == []
    assert list(input_problems(calculator(share=SHARE), {})) == []


@pytest.mark.parametrize(
    ("field", "names"),
    [
        (SHARE, ("float",)),
        (COUNT, ("int", "float")),
        (FAN, ("bool",)),
        (KIND, ("str",)),
        (ORDER, ("str",)),
        (NOTE, ("str",)),
    ],
)
def test_the_types_of_an_input_follow_from_its_kind(field, names):
    assert python_types(field) == names


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        (SHARE, float),
        (SHARE, Seconds),
        (COUNT, int),
        (COUNT, float),
        (FAN, bool),
        (KIND, str),
        # Of others made: not judged.
        (KIND, Literal["gas"]),
        (SHARE, list[str]),
        (SHARE, Times),
    ],
)
def test_a_type_suits_an_input(field, kind):
    assert accepts_type(field, kind)


@pytest.mark.parametrize(
    ("field", "kind"),
    [(SHARE, int), (SHARE, str), (COUNT, bool), (FAN, int), (KIND, Seconds), (KIND, 5), (KIND, "")],
)
def test_a_type_does_not_suit_an_input(field, kind):
    assert not accepts_type(field, kind)
