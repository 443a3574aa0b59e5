"""Numbers to words: units, digits, prefixes, what has no value."""

import math
import random

from engine.core.numbers import Display, format_significant, format_value, other_system, typeset
from engine.core.units import (
    BANDWIDTH,
    BYTES,
    COUNT,
    FLOP_RATE,
    LINK_SPEED,
    OPERATIONS,
    PARAMETERS,
    RATIO,
    SECONDS,
    SHARE,
    TOKENS,
    Gbit,
    KiB,
    MiB,
    Quantity,
    with_digits,
)
from tests.each import each

BINARY = Display(binary=True)
BOTH_WAYS = Display(both_ways=True)


@each(
    ("value", "quantity", "text"),
    [
        (0.49, SECONDS, "490 ms"),
        (42e-6, SECONDS, "42.0 µs"),
        (1.5, SECONDS, "1.50 s"),
        (119, SECONDS, "119 s"),
        (120, SECONDS, "2.00 min"),
        (7200, SECONDS, "2.00 h"),
        (86_400, SECONDS, "24.0 h"),
        (3 * 86_400, SECONDS, "3.00 days"),
        (3e-10, SECONDS, "0.300 ns"),
        (14e9, BYTES, "14.0 GB"),
        (0.992, SHARE, "99.2 %"),
        (845.1 * Gbit, LINK_SPEED, "845.1 Gb/s"),
        (400 * Gbit, LINK_SPEED, "400 Gb/s"),
        (1600 * Gbit, LINK_SPEED, "1,600 Gb/s"),
        (366e9, BANDWIDTH, "366 GB/s"),
        (7e9, PARAMETERS, "7B"),
        (70.6e9, PARAMETERS, "70.6B"),
        (131_072, COUNT, "131,072"),
        (8653.75, TOKENS, "8,654"),
        (989e12, FLOP_RATE, "989 TFLOP/s"),
        (1e18, OPERATIONS, "1.00 EFLOP"),
        (1.75, RATIO, "1.75×"),
    ],
)
def test_a_value_is_written_with_its_unit(value, quantity, text):
    assert format_value(value, quantity) == text


@each(
    ("value", "quantity", "text"),
    [
        (0.9994, SECONDS, "999 ms"),
        (0.99996, SECONDS, "1.00 s"),
        (0.999_96e-3, SECONDS, "1.00 ms"),
        (9.99996, SECONDS, "10.0 s"),
        (99.9996, SECONDS, "100 s"),
        (119.98, SECONDS, "2.00 min"),
        (999.96e6, BYTES, "1.00 GB"),
        (999.96e9, PARAMETERS, "1T"),
        (999.96, TOKENS, "1,000"),
        (999.94, TOKENS, "999.9"),
        (0.99999, SHARE, "100.0 %"),
    ],
)
def test_rounding_up_carries_into_the_next_unit(value, quantity, text):
    assert format_value(value, quantity) == text


@each(
    ("value", "text"),
    [
        (14e9, "13.0 GiB"),
        (1023.99 * MiB, "1.00 GiB"),
        (1023 * MiB, "1,023 MiB"),
        (25 * MiB, "25.0 MiB"),
        (KiB, "1.00 KiB"),
    ],
)
def test_sizes_can_be_written_in_powers_of_1024(value, text):
    assert format_value(value, BYTES, BINARY) == text


def test_the_other_system_of_14_gigabytes_is_13_04_gibibytes():
    assert other_system(14e9, BYTES) == "13.0 GiB"


def test_the_other_system_of_binary_sizes_is_decimal():
    assert other_system(14e9, BYTES, BINARY) == "14.0 GB"


def test_only_sizes_have_another_system():
    assert other_system(1.0, SECONDS) == ""


def test_both_ways_doubles_a_link_and_says_so():
    assert format_value(400 * Gbit, LINK_SPEED, BOTH_WAYS) == "800 Gb/s both ways"


def test_both_ways_leaves_achieved_bandwidths_alone():
    assert format_value(50e9, BANDWIDTH, BOTH_WAYS) == "50.0 GB/s"


@each(
    ("quantity", "text"),
    [
        (SECONDS, "0 s"),
        (BYTES, "0 B"),
        (SHARE, "0.0 %"),
        (TOKENS, "0"),
        (PARAMETERS, "0"),
        (RATIO, "0×"),
        (BANDWIDTH, "0 B/s"),
    ],
)
def test_nothing_is_written_as_zero_of_the_base_unit(quantity, text):
    assert format_value(0.0, quantity) == text


def test_a_negative_value_keeps_its_sign_and_unit():
    assert format_value(-0.49, SECONDS) == "−490 ms"


def test_a_share_too_small_to_print_is_not_called_zero():
    assert format_value(0.0004, SHARE) == "< 0.1 %"


def test_a_small_negative_share_reads_as_none():
    assert format_value(-0.0004, SHARE) == "0.0 %"


@each("value", [math.inf, -math.inf])
@each("quantity", [SECONDS, BYTES, SHARE, COUNT, LINK_SPEED])
def test_what_is_not_finite_is_said_in_words(value, quantity):
    assert format_value(value, quantity) == "no finite value"
    assert format_value(math.nan, quantity) == "–"


def test_three_significant_digits_stay_three():
    chance = random.Random(1)
    values = [10 ** chance.uniform(-6, 3) for _ in range(2000)]
    digits = {len(format_significant(v).replace(".", "").lstrip("0")) for v in values}
    assert digits == {3}


def test_a_tiny_number_is_not_written_as_zeros():
    assert format_significant(3.2e-14) == "3.20e-14"


@each(
    ("number", "printed"),
    [
        ("-2.5e-08", "−2.5\u00a0×\u00a010⁻⁸"),
        ("6.02e+23", "6.02\u00a0×\u00a010²³"),
        ("1,024", "1,024"),
    ],
)
def test_powers_of_ten_and_minus_signs_are_printed_as_print_has_them(number, printed):
    assert typeset(number) == printed


def test_what_was_given_is_written_as_it_was_given():
    assert format_value(60, with_digits(SECONDS)) == "60 s"
    assert format_value(2.5e-6, with_digits(SECONDS)) == "2.5 µs"
    assert format_value(0.5, with_digits(SHARE)) == "50 %"
    assert format_value(13_038.5e6, with_digits(BYTES)) == "13.0385 GB"


@each(
    ("value", "quantity", "text"),
    [
        (3.3e71, COUNT, "3.3\u00a0×\u00a010⁷¹"),
        (1e15, COUNT, "1,000,000,000,000,000"),
        (31_952_846_892.0, RATIO, "3.2\u00a0×\u00a010¹⁰"),
    ],
)
def test_what_nobody_counts_is_a_power_of_ten(value, quantity, text):
    assert format_value(value, quantity) == text


def test_a_small_number_is_not_zero_on_an_axis():
    assert format_value(1e-12, COUNT) == "1\u00a0×\u00a010⁻¹²"
    assert format_value(0.1 + 0.2 - 0.3, COUNT) == "0"


def test_a_quantity_of_a_project_has_its_sign():
    assert format_value(19.81, Quantity("speed", sign=" m/s")) == "19.8 m/s"
    assert format_value(19.81, Quantity("customers")) == "19.8"
