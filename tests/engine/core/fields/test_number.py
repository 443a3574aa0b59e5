"""Numbers with a range: read, refused, shown, and moved in steps."""

import pytest

from engine.core.inputs import (
    BILLIONS,
    GBITS,
    MEBIBYTES,
    MILLISECONDS,
    PERCENT,
    InputError,
    Number,
    Unit,
)
from engine.core.units import Gbit, MiB

SIZES = Unit(" kB", 1e3, {"B": 1.0, "kB": 1e3, "MB": 1e6}, shown=("B", "kB", "MB"))
SIZE = Number(label="Size", unit=SIZES, low=0.5, high=1e9, scale="log")
PORT = Number(label="Port", unit=GBITS, low=1 * Gbit, high=1600 * Gbit, scale="log")
TOKENS = Number(label="Tokens", low=256, high=1_048_576, scale="log", whole=True)
RANKS = Number(label="GPUs", low=2, high=131_072, scale="log2", whole=True)
SHARE = Number(label="MFU", unit=PERCENT, low=0.1, high=0.7, step=0.01)
BUCKET = Number(label="Bucket", unit=MEBIBYTES, low=1 * MiB, high=1024 * MiB, scale="log")


def message(field, text, *, typed=True):
    with pytest.raises(InputError) as caught:
        field.read(text, typed=typed)
    return str(caught.value)


def marks(field):
    """Where the arrow keys stop on the way from the lowest value to the highest."""
    found = [field.low]
    while found[-1] != field.high and len(found) < 20_000:
        found.append(field.nudge(found[-1], 1))
    return found


def test_a_bare_number_is_typed_in_the_unit_of_its_field():
    assert PORT.read("400", typed=True) == 400 * Gbit


@pytest.mark.parametrize(
    ("value", "shown"), [(8.0, "8 B"), (64e3, "64 kB"), (2.5e6, "2.5 MB"), (0.5, "0.5 B")]
)
def test_a_value_is_shown_in_the_unit_that_suits_it(value, shown):
    assert SIZE.show(value) == shown


def test_a_bare_number_without_a_unit_is_refused_where_the_unit_varies():
    assert message(SIZE, "64") == "'64' has no unit; allowed is one of B, kB, MB"


def test_a_bare_number_in_a_url_needs_no_unit_where_the_unit_varies():
    assert SIZE.read("64000", typed=False) == 64e3


def test_a_bare_number_in_a_url_is_in_si_units():
    assert PORT.read("5e10", typed=False) == 400 * Gbit


def test_a_url_may_carry_a_unit():
    assert PORT.read("50 GB/s", typed=False) == 400 * Gbit


def test_a_value_below_the_range_names_the_value_and_the_range():
    words = "'0.5 Gb/s' is outside the range 1 Gb/s to 1,600 Gb/s"
    assert message(PORT, "0.5 Gb/s") == words


def test_a_text_that_is_no_number_names_the_text_and_the_range():
    assert message(RANKS, "many") == "'many' is not a number; allowed is 2 to 131,072"


def test_an_unknown_unit_names_the_unit_the_range_and_the_units_there_are():
    words = "'400 baud' is in an unknown unit 'baud'; allowed is 1 Gb/s to 1,600 Gb/s"
    units = "; its units are Gb/s, G, Gbps, Tb/s, GB/s, MB/s, TB/s"
    assert message(PORT, "400 baud") == words + units


def test_where_there_is_one_unit_the_range_names_it():
    share = Number(label="Share", unit=PERCENT, low=0.0, high=1.0)
    words = "'5 kg' is in an unknown unit 'kg'; allowed is 0 % to 100 %"
    assert message(share, "5 kg") == words


def test_half_a_gpu_is_refused():
    assert message(RANKS, "8.5") == "'8.5' is not a whole number; allowed is 2 to 131,072"


def test_an_infinite_number_of_gpus_is_outside_the_range():
    assert message(RANKS, "1e999") == "'1e999' is outside the range 2 to 131,072"


def test_a_long_text_is_quoted_by_its_beginning():
    assert message(RANKS, "x" * 5000).startswith(f"'{'x' * 39}…' is too long")


def test_a_thousandth_of_a_thousand_is_whole():
    assert TOKENS.read("1.001k", typed=True) == 1001


def test_whole_numbers_are_integers():
    assert type(RANKS.read("8.0", typed=True)) is int


def test_a_step_from_between_two_marks_leads_to_the_next_mark():
    assert (TOKENS.nudge(4096, 1), TOKENS.nudge(4096, -1)) == (4100, 4050)


def test_a_step_down_from_an_odd_upper_bound_leads_to_the_mark_below():
    assert BUCKET.nudge(1024 * MiB, -1) == 1000 * MiB


def test_no_steps_change_nothing():
    assert TOKENS.nudge(4097, 0) == 4097


def test_log2_steps_are_powers_of_two():
    assert marks(RANKS) == [2**exponent for exponent in range(1, 18)]


def test_a_log2_step_from_between_powers_leads_to_the_next_power():
    assert (RANKS.nudge(6, 1), RANKS.nudge(6, -1)) == (8, 4)


def test_linear_steps_are_one_percent_of_utilization():
    assert SHARE.nudge(0.5, 1) == 0.51


def test_a_range_is_shown_in_the_unit_of_the_field():
    field = Number(label="Parameters", unit=BILLIONS, low=1e9, high=2e12, scale="log")
    assert field.range_words() == "1B to 2,000B"


def test_one_of_a_unit_is_singular_and_read_as_such():
    field = Number(label="Steps take", unit=Unit(" days", 86_400), low=86_400, high=365 * 86_400)
    assert field.range_words() == "1 day to 365 days"
    assert field.read("1 day", typed=True) == 86_400


def test_a_unit_that_only_ends_like_a_plural_stays():
    assert Number(label="Time", unit=MILLISECONDS, low=1e-3, high=1).show(1e-3) == "1 ms"
