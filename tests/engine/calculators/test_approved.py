"""No number of a calculator changes unnoticed; `approved.py` says how a change is approved."""

import pytest

from engine.calculator import names
from engine.core.units import SECONDS
from engine.core.views import Axis, Series
from tests.engine.calculators.approved import SHOWN, approved, differences, summary, today, told

APPROVED = approved()
LINE = Series(key="a", label="a", x=(1.0, 2.0), y=(1e-6, 3e9), color="ink")


@pytest.mark.parametrize("name", names())
def test_the_numbers_are_those_approved(name):
    found = told(APPROVED.get(name, {}), today(name), name)
    shown = "\n".join(found[:SHOWN])
    more = f"\nand {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    command = f"python -m tests.engine.calculators.approved {name}"
    assert not found, f"{shown}{more}\nIf every change is meant: {command}"


def test_what_is_no_longer_there_is_no_longer_approved():
    assert set(APPROVED) <= set(names())


@pytest.mark.parametrize(
    "other", [(1.001e-6, 3e9), (1e-6, 3.001e9), (3e9, 1e-6), (1e-6,), (-1e-6, 3e9)]
)
def test_every_number_of_a_view_and_their_order_counts(other):
    changed = Series(key="a", label="a", x=(1.0, 2.0), y=other, color="ink")
    assert list(differences(summary(LINE), summary(changed), "")) != []


def test_words_do_not_count():
    said = [Axis(label=label, quantity=SECONDS, low=0, high=1) for label in ("Time", "The time")]
    assert summary(said[0]) == summary(said[1])


def test_seeded_cases_of_other_inputs_are_one_line():
    before = {"inputs": {"model": 1.0}, "defaults": {"time": 1.0}, "seeded 0": {"time": 1.0}}
    now = {"inputs": {"model": 2.0}, "defaults": {"time": 1.0}, "seeded 0": {"time": 5.0}}
    assert told(before, now, "lab") == [
        "lab, inputs, model: 1 -> 2",
        "lab: its inputs are others, and so the seeded cases are drawn anew",
    ]
    assert told(before, {**now, "inputs": before["inputs"]}, "lab") == [
        "lab, seeded 0, time: 1 -> 5"
    ]


def test_a_billionth_does_not_count():
    assert list(differences({"a": {"b": 1.0}}, {"a": {"b": 1 + 1e-10}}, "x")) == []
    assert list(differences({"a": {"b": 1.0}}, {"a": {}}, "x")) == ["x, a, b: gone"]
    assert list(differences({"a": None}, {"a": 2.0}, "x")) == ["x, a: None -> 2.0"]
