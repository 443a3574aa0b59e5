import random
from itertools import pairwise

import pytest

from engine.core.numbers import Display
from engine.core.ticks import tick_text, ticks
from engine.core.units import (
    BYTES,
    COUNT,
    GPU_TIME,
    LINK_SPEED,
    SECONDS,
    SHARE,
    TOKENS,
    Gbit,
    GiB,
    MiB,
)
from engine.core.views import Axis

PLAIN, BINARY, BOTH_WAYS = Display(), Display(binary=True), Display(both_ways=True)


def texts(quantity, low, high, scale="linear", display=PLAIN):
    axis = Axis(label="x", quantity=quantity, low=low, high=high, scale=scale)
    return [text for _, text in ticks(axis, display)]


def axes(scale, count=300):
    chance = random.Random(scale)
    for _ in range(count):
        quantity = chance.choice([BYTES, SECONDS, SHARE, TOKENS, LINK_SPEED])
        high = 10 ** chance.uniform(-5, 14)
        low = high * 10 ** -chance.uniform(0.5, 9) if scale == "log" else 0.0
        yield Axis(label="x", quantity=quantity, low=low, high=high, scale=scale)


def test_a_linear_axis_is_marked_at_round_values():
    assert texts(SECONDS, 0, 0.55) == ["0 s", "100 ms", "200 ms", "300 ms", "400 ms", "500 ms"]


def test_a_share_is_marked_in_percent():
    assert texts(SHARE, 0, 1) == ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]


def test_a_long_time_is_marked_in_whole_minutes():
    assert texts(SECONDS, 0, 650) == ["0 s", "2 min", "4 min", "6 min", "8 min", "10 min"]


def test_a_linear_axis_of_time_has_one_unit():
    minutes = ["0 s", "20 min", "40 min", "60 min", "80 min", "100 min"]
    assert texts(SECONDS, 0, 110 * 60) == minutes
    assert texts(SECONDS, 0, 170 * 60) == ["0 s", "50 min", "100 min", "150 min"]
    hours = ["0 s", "0.5 h", "1 h", "1.5 h", "2 h", "2.5 h", "3 h"]
    assert texts(SECONDS, 0, 3 * 3600) == hours
    assert texts(SECONDS, 0, 4 * 86_400) == ["0 s", "1 day", "2 days", "3 days", "4 days"]


def test_a_logarithmic_axis_of_time_is_marked_at_units_of_the_clock():
    expected = ["1 min", "10 min", "1 h", "6 h", "1 day"]
    assert texts(SECONDS, 50, 90_000, "log") == expected


def test_gpu_time_is_marked_in_round_hours():
    hours = ["0 GPU h", "0.5 GPU h", "1 GPU h", "1.5 GPU h", "2 GPU h"]
    assert texts(GPU_TIME, 0, 2.4 * 3600) == hours


def test_there_is_no_mark_between_two_things_that_are_counted():
    assert texts(COUNT, 2, 16) == ["5", "10", "15"]
    assert texts(COUNT, 0, 3) == ["0", "1", "2", "3"]


def test_a_size_is_marked_in_decimal_units():
    assert texts(BYTES, 0, 14e9) == ["0 B", "2.5 GB", "5 GB", "7.5 GB", "10 GB", "12.5 GB"]


def test_a_size_is_marked_in_binary_units_if_so_wanted():
    expected = ["0 B", "2.5 GiB", "5 GiB", "7.5 GiB", "10 GiB", "12.5 GiB"]
    assert texts(BYTES, 0, 14 * GiB, display=BINARY) == expected


def test_a_logarithmic_axis_is_marked_at_powers_of_ten():
    assert texts(SECONDS, 1e-5, 1e-2, "log") == ["10 µs", "100 µs", "1 ms", "10 ms"]


def test_a_long_logarithmic_axis_leaves_powers_out():
    assert texts(BYTES, 1e3, 1e11, "log") == ["10 kB", "1 MB", "100 MB", "10 GB"]


def test_a_logarithmic_axis_in_binary_units_is_marked_at_powers_of_1024():
    assert texts(BYTES, 2**10, 2**40, "log", BINARY) == ["1 KiB", "1 MiB", "1 GiB", "1 TiB"]


def test_a_short_logarithmic_axis_is_marked_at_one_two_and_five():
    assert texts(TOKENS, 100, 1000, "log") == ["100", "200", "500", "1,000"]


def test_a_logarithmic_axis_of_link_speeds_is_marked_in_round_gigabits():
    expected = ["1 Gb/s", "10 Gb/s", "100 Gb/s", "1,000 Gb/s"]
    assert texts(LINK_SPEED, 1 * Gbit, 1000 * Gbit, "log") == expected


def test_link_speeds_of_both_ways_are_round_too():
    marks = texts(LINK_SPEED, 0, 500 * Gbit, display=BOTH_WAYS)
    assert marks[1] == "200 Gb/s both ways"


def test_an_axis_without_extent_has_one_mark():
    assert texts(SECONDS, 0.0, 0.0) == ["0 s"]


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_marks_lie_within_the_axis(scale):
    for axis in axes(scale):
        low, high = axis.low * 0.99999, axis.high * 1.00001
        assert all(low <= value <= high for value, _ in ticks(axis, PLAIN))


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_there_are_two_to_eight_marks(scale):
    counts = {len(ticks(axis, display)) for axis in axes(scale) for display in (PLAIN, BOTH_WAYS)}
    assert counts <= {2, 3, 4, 5, 6, 7, 8}


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_marks_ascend(scale):
    for axis in axes(scale):
        assert all(low < high for (low, _), (high, _) in pairwise(ticks(axis, PLAIN)))


@pytest.mark.parametrize(
    ("value", "quantity", "text"),
    [
        (0.5, SECONDS, "500 ms"),
        (1e9, BYTES, "1 GB"),
        (0.5, SHARE, "50 %"),
        (1.25 * MiB, BYTES, "1.31 MB"),
        (100_000, TOKENS, "100,000"),
    ],
)
def test_a_mark_has_no_trailing_zeros(value, quantity, text):
    assert tick_text(value, quantity, PLAIN) == text
