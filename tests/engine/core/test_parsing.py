"""Words to numbers, and a value as it stands in an address."""

import math
import random

import pytest

from engine.core.parsing import exact_text, parse_number
from tests.each import each

SUFFIXES = {"B": 1e9, "M": 1e6, "GB/s": 1e9, "Gb/s": 1.25e8}


@each(
    ("text", "value"),
    [
        ("7", 7e9),
        (" 7 B ", 7e9),
        ("7b", 7e9),
        ("7e9 ", 7e18),
        ("1,024", 1024e9),
        ("1,024.5 M", 1024.5e6),
        ("1_000", 1e12),
        ("400 Gb/s", 5e10),
        ("400GB/s", 4e11),
        (".5", 0.5e9),
        ("+5", 5e9),
    ],
)
def test_a_typed_number_is_read_in_its_unit(text, value):
    assert parse_number(text, 1e9, SUFFIXES) == pytest.approx(value, rel=1e-15)


@each(
    "text",
    ["", " ", "nan", "inf", "-inf", "infinity", "٣", "½", "³", "😀", "--5", "_", "e5", "."],
)
def test_what_is_no_number_is_called_none(text):
    with pytest.raises(ValueError, match=r"^not a number$"):
        parse_number(text, 1.0, SUFFIXES)


@each("text", ["0,5", "1,2,3", "1,0000", "5,", ",", "1,٣٤٥٦"])
def test_a_comma_only_separates_thousands(text):
    with pytest.raises(ValueError, match="a comma separates thousands"):
        parse_number(text, 1.0, SUFFIXES)


@each("text", ["5 furlongs", "5 <b>", "0x10", "1.5.2", "5\x00", "5 ٣"])
def test_an_unknown_unit_is_named(text):
    with pytest.raises(ValueError, match="in an unknown unit '"):
        parse_number(text, 1.0, SUFFIXES)


def test_a_very_long_text_is_refused_unread():
    with pytest.raises(ValueError, match="too long"):
        parse_number("9" * 1_000_000, 1.0, SUFFIXES)


def test_a_number_beyond_floating_point_is_read_as_infinite():
    assert parse_number("1e999", 1.0, {}) == math.inf


@each(
    ("value", "text"),
    [
        (7e9, "7e9"),
        (5e10, "5e10"),
        (3e-6, "3e-6"),
        (8, "8"),
        (0.5, "0.5"),
        (26_214_400.0, "26214400"),
        (268_435_456.0, "268435456"),
        (70.6e9, "7.06e10"),
        (1.23456789e22, "1.23456789e22"),
        (True, "on"),
        (False, "off"),
        ("bf16", "bf16"),
    ],
)
def test_a_value_in_a_url_is_short(value, text):
    assert exact_text(value) == text


def test_a_value_in_a_url_is_exact():
    chance = random.Random(2)
    values = [10 ** chance.uniform(-30, 30) for _ in range(2000)]
    assert [float(exact_text(v)) for v in values] == values


def test_a_printed_minus_reads_as_it_is_meant():
    assert parse_number("−5", 1.0, {}) == -5.0
