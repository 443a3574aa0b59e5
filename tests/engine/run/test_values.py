"""Values of a document: which are of their kind, and the one line for each that is not."""

import math

import pytest

from engine.run.values import (
    Spec,
    check_words,
    format_value,
    load_json,
    printable_key,
    read_section,
    read_value,
    report_unknown_keys,
)
from tests.each import each

SPEC = Spec(
    {
        "size": ((2, 9), ...),
        "rate": (0.0, None),
        "word": (("a", "b"), "a"),
        "switch": (bool, True),
    }
)
WHOLE = "allowed: a whole number from 2 to 9"
SIZE = f"part.size: missing; {WHOLE}"


def taken(given):
    found = []
    return read_section("part", given, SPEC, found), found


@each(
    ("given", "values"),
    [
        ({"size": 2}, {"size": 2, "rate": None, "word": "a", "switch": True}),
        ({"size": 9, "switch": False}, {"size": 9, "rate": None, "word": "a", "switch": False}),
        (
            {"size": 3, "rate": 0.5, "word": "b", "switch": True},
            {"size": 3, "rate": 0.5, "word": "b", "switch": True},
        ),
    ],
)
def test_a_section_is_read_with_its_defaults(given, values):
    assert taken(given) == (values, [])


@each(
    ("given", "problems"),
    [
        ({}, [SIZE]),
        ({"size": 1}, [f"part.size: 1; {WHOLE}"]),
        ({"size": 10}, [f"part.size: 10; {WHOLE}"]),
        ({"size": True}, [f"part.size: true; {WHOLE}"]),
        ({"size": 2.0}, [f"part.size: 2.0; {WHOLE}"]),
        ({"size": 2, "rate": 0}, ["part.rate: 0; allowed: a number above 0, at most 1e18"]),
        ({"size": 2, "word": "c"}, ['part.word: "c"; allowed: a, b']),
        ({"size": 2, "word": 0}, ["part.word: 0; allowed: a, b"]),
        ({"size": 2, "switch": 0}, ["part.switch: 0; allowed: true or false"]),
        (
            {"size": 2, "more": [1]},
            ["part.more: [1]; unknown key; allowed: size, rate, word, switch"],
        ),
        (
            {"other": 5, "switch": None},
            [
                "part.other: 5; unknown key; allowed: size, rate, word, switch",
                SIZE,
                "part.switch: null; allowed: true or false",
            ],
        ),
        (..., ["part: missing; allowed: an object with size, rate, word, switch"]),
        ([1], ["part: [1]; allowed: an object with size, rate, word, switch"]),
    ],
)
def test_each_thing_that_is_wrong_in_a_section_is_one_line(given, problems):
    assert taken(given)[1] == problems


def test_of_a_section_with_something_wrong_the_rest_is_read():
    assert taken({"size": 2, "word": "c"})[0] == {
        "size": 2,
        "rate": None,
        "word": "c",
        "switch": True,
    }
    assert taken({"word": "b"})[0] == {"rate": None, "word": "b", "switch": True}
    assert taken([1])[0] == {}


@each(
    ("given", "fits"),
    [
        (1, True),
        (1e-300, True),
        (10**18, True),
        (1e18, True),
        (10**18 + 1, False),
        (1.1e18, False),
        (0, False),
        (-1.0, False),
        (True, False),
        ("1", False),
        (None, False),
        (math.nan, False),
        (math.inf, False),
        ([1], False),
    ],
)
def test_a_number_above_its_bound_is_no_truth_and_no_text(given, fits):
    found = []
    assert read_value("rate", given, 0.0, found) is given
    assert (found == []) is fits


def test_a_bound_is_exceeded_and_stands_in_the_message():
    found = []
    read_value("ratio", 1, 1.0, found)
    read_value("ratio", 1.5, 1.0, found)
    assert found == ["ratio: 1; allowed: a number above 1, at most 1e18"]


def test_a_kind_that_there_is_none_of_is_a_fault_of_the_program():
    with pytest.raises(TypeError):
        read_value("key", 1, "word", [])
    assert SPEC.required == {"size"}
    assert SPEC.defaults == {"size": ..., "rate": None, "word": "a", "switch": True}


@each(
    ("given", "fine"),
    [
        (["a"], True),
        (["b", "a"], True),
        ([], False),
        (["a", "a"], False),
        (["a", "c"], False),
        (["a", 1], False),
        ([["a"]], False),
        ("a", False),
        (("a",), False),
        (None, False),
    ],
)
def test_a_list_of_words_has_each_at_most_once(given, fine):
    found = []
    check_words("key", given, ("a", "b"), found)
    message = f"key: {format_value(given)}; allowed: a list of different names out of a, b"
    assert found == ([] if fine else [message])


def test_keys_that_nothing_is_known_of_are_named_on_one_line():
    found = []
    report_unknown_keys("", {"a": 1, "b\nc": 2, 5: 3}, ("a",), found)
    assert found == [
        "b\\nc: 2; unknown key; allowed: a",
        "5: 3; unknown key; allowed: a",
    ]


def test_keys_and_values_of_more_than_80_characters_are_cut():
    assert printable_key("k" * 80) == "k" * 80
    assert printable_key("k" * 81) == "k" * 77 + "..."
    assert format_value("v" * 78) == '"' + "v" * 78 + '"'
    assert format_value("v" * 79) == '"' + "v" * 76 + "..."


def test_what_cannot_be_shown_is_said_to_be_so():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert format_value(deep) == "a value nested too deeply or too long to show"
    assert format_value(10**5000) == "a value nested too deeply or too long to show"
    assert format_value({"a": 1j}) == '{"a": "1j"}'


def test_of_a_number_that_is_too_long_the_first_hundred_digits_are_read():
    assert load_json('{"n": 12}') == {"n": 12}
    assert load_json("1" * 100) == int("1" * 100)
    assert load_json("2" * 5000) == int("2" * 100)
    with pytest.raises(ValueError, match="Expecting value"):
        load_json("[")
