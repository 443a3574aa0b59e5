"""Every input of every calculator reads, refuses and steps as it should: one test a calculator."""

import math
import random
from itertools import pairwise

import pytest

from engine.calculator import load
from engine.calculators.whole_runs.sweep_result import split_words
from engine.core.inputs import Compact, InputError, Number, Text
from engine.core.parsing import exact_text
from tests.engine.calculators.promises import promise_for_each

MARKS = {}
HOSTILE = [
    "",
    " ",
    "NaN",
    "inf",
    "-inf",
    "٣",
    "😀",
    "9" * 100_000,
    "x" * 100_000,
    "1e999",
    "-1e999",
    "1e308",
    "--5",
    "0,5",
    "<img src=x onerror=alert(1)>",
    "5<b>",
    "{0}",
    "%s",
    "5\x00",
    "on\noff",
    "None",
]


def fields(name):
    return [(key, (field,)) for key, field in load(name).fields.items()]


def numbers(name):
    return [(key, (field,)) for key, (field,) in fields(name) if isinstance(field, Number)]


def whole_numbers(name):
    return [(key, (field,)) for key, (field,) in numbers(name) if field.whole]


def defaults(name):
    calculator = load(name)
    return [(key, (calculator.fields[key], value)) for key, value in calculator.defaults.items()]


def message(field, text, *, typed=True):
    with pytest.raises(InputError) as caught:
        field.read(text, typed=typed)
    return str(caught.value)


def marks(field):
    """Where the arrow keys stop on the way from the lowest value to the highest; found once."""
    if id(field) not in MARKS:
        found = [field.low]
        while found[-1] != field.high and len(found) < 20_000:
            found.append(field.nudge(found[-1], 1))
        MARKS[id(field)] = found
    return MARKS[id(field)]


def close(found, expected, tolerance=1e-11):
    """Whether all numbers are those expected; of thousands pytest.approx would take seconds."""
    pairs = zip(found, expected, strict=True)
    return all(math.isclose(one, other, rel_tol=tolerance) for one, other in pairs)


def values_of(field, count=200):
    """`count` values over the whole range, on the field's own scale, bounds included."""
    chance = random.Random(3)
    low, high = float(field.low), float(field.high)
    spread = [chance.random() for _ in range(count)]
    if field.scale == "linear":
        found = [low + share * (high - low) for share in spread]
    else:
        found = [min(max(low * (high / low) ** share, low), high) for share in spread]
    return [field.low, field.high, *(round(v) if field.whole else v for v in found)]


@promise_for_each(numbers)
def both_bounds_are_allowed(field):
    bounds = [field.low, field.high]
    assert [field.read(exact_text(bound), typed=False) for bound in bounds] == bounds


@promise_for_each(numbers)
def just_beyond_a_bound_is_refused(field):
    for bound, change in ((field.low, -0.001), (field.high, 0.001)):
        # A thousandth of nothing is still nothing: below a bound of zero lies what is negative.
        beyond = bound + abs(bound or field.high) * change
        assert "is outside the range" in message(field, repr(beyond), typed=False)


@promise_for_each(fields)
def hostile_text_is_refused_in_a_short_sentence(field):
    # A short text that pages hand on may be left out, and so may a text that says so.
    optional = isinstance(field, Compact) or (isinstance(field, Text) and not field.empty)
    texts = [text for text in HOSTILE if text.strip() or not optional]
    if isinstance(field, Compact) and field.parse is split_words:  # any short words are right
        texts = [text for text in texts if len(text) > 100]
    lengths = {text[:30]: len(message(field, text)) for text in texts}
    assert not {text: length for text, length in lengths.items() if not 10 < length < 220}


@promise_for_each(numbers)
def arrow_keys_lead_from_bound_to_bound(field):
    assert marks(field)[-1] == field.high


@promise_for_each(numbers)
def arrow_keys_lead_back_over_the_same_marks(field):
    found = marks(field)
    assert close([field.nudge(mark, -1) for mark in found[1:]], found[:-1])


@promise_for_each(numbers)
def every_step_up_is_a_step_up(field):
    found = marks(field)
    assert all(low < high for low, high in pairwise(found))


@promise_for_each(numbers)
def arrow_keys_stop_at_the_bounds(field):
    assert (field.nudge(field.low, -1), field.nudge(field.high, 1)) == (field.low, field.high)


@promise_for_each(numbers)
def many_steps_are_as_many_single_steps(field):
    found = marks(field)
    count = min(7, len(found) - 1)
    assert field.nudge(found[0], count) == pytest.approx(found[count], rel=1e-11)


@promise_for_each(numbers)
def a_slider_at_its_ends_gives_the_bounds(field):
    assert (field.at(0.0), field.at(1.0)) == (field.low, field.high)


@promise_for_each(numbers)
def a_slider_beyond_its_ends_gives_the_bounds(field):
    assert (field.at(-3.0), field.at(7.0)) == (field.low, field.high)


@promise_for_each(numbers)
def a_slider_never_runs_backwards(field):
    values = [field.at(i / 500) for i in range(501)]
    assert values == sorted(values)


@promise_for_each(numbers)
def positions_grow_with_values(field):
    positions = [field.position(mark) for mark in marks(field)]
    assert positions == sorted(set(positions))


@promise_for_each(numbers)
def a_slider_put_where_a_mark_lies_gives_the_mark(field):
    found = marks(field)
    assert close([field.at(field.position(mark)) for mark in found], found)


@promise_for_each(defaults)
def a_default_is_a_value_that_could_be_typed(field, default):
    assert field.read(exact_text(default), typed=False) == default


@promise_for_each(whole_numbers)
def sliders_of_whole_numbers_give_integers(field):
    assert {type(field.at(i / 50)) for i in range(51)} == {int}


@promise_for_each(fields)
def every_input_has_a_label(field):
    assert field.label


@promise_for_each(fields)
def help_is_a_sentence(field):
    assert not field.help or field.help.endswith(".")


@promise_for_each(numbers)
def what_a_field_shows_reads_back_to_six_digits(field):
    values = values_of(field)
    again = [field.read(field.show(value), typed=True) for value in values]
    assert close(again, values, 5e-6)


@promise_for_each(numbers)
def what_a_url_holds_reads_back_exactly(field):
    values = values_of(field)
    assert [field.read(exact_text(value), typed=False) for value in values] == values
