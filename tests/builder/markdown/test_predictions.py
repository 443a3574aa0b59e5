from itertools import pairwise

import pytest

from builder.markdown.extensions.blocks import STOPS, make_prediction, verdict
from engine.core.units import BYTES, COUNT, RATIO, SECONDS, TOKEN_RATE
from engine.core.views import Receipt, Value

TIME = Value(label="Time", value=0.49, quantity=SECONDS, receipt=Receipt())


def test_a_low_guess_says_how_many_times_as_long():
    said = verdict(0.05, 0.49, SECONDS)
    assert said == "You said 50 ms; it is 490 ms, 9.8 times as long."


def test_a_high_guess_says_how_far_it_was():
    said = verdict(4.9, 0.49, SECONDS)
    assert said == "You said 4.9 s; it is 490 ms: your guess was 10 times as long."


def test_a_close_guess_is_right():
    assert verdict(0.5, 0.49, SECONDS).endswith("so you were right within 5 %.")


@pytest.mark.parametrize(
    ("guess", "truth", "said"),
    [(0.2, 0.0, "You said 200 ms; it is 0 s."), (0.0, 0.2, "You said 0 s; it is 200 ms.")],
)
def test_nothing_is_some_times_as_long_as_nothing(guess, truth, said):
    assert verdict(guess, truth, SECONDS) == said


def test_a_size_is_not_long():
    assert verdict(1e9, 14e9, BYTES) == "You said 1 GB; it is 14.0 GB, 14 times as much."


def test_a_count_that_may_number_something_is_not_much():
    assert verdict(15, 28, COUNT) == "You said 15; it is 28, 1.9 times that."


def test_the_slider_has_its_stops():
    assert len(make_prediction(TIME, 0.001, 100).stops) == STOPS


def test_the_page_puts_a_verdict_together():
    made = make_prediction(TIME, 0.001, 100)
    text, compared = made.stops[0]
    assert made.verdict_words[0] + text + made.verdict_words[1] + compared == verdict(
        0.001, 0.49, SECONDS
    )


def test_the_truth_lies_where_it_belongs_on_the_scale():
    assert make_prediction(TIME, 0.0049, 49).at == pytest.approx(50)


def test_a_linear_scale_is_linear():
    assert make_prediction(TIME, 0, 0.98, "linear").at == pytest.approx(50)


def test_a_range_without_the_truth_is_refused():
    with pytest.raises(ValueError, match=r"0\.49 is outside the range 1 to 2"):
        make_prediction(TIME, 1, 2)


def test_a_logarithmic_range_cannot_begin_at_zero():
    with pytest.raises(ValueError, match="cannot be logarithmic"):
        make_prediction(TIME, 0, 1)


def test_the_labels_of_a_scale_do_not_meet_on_a_phone():
    rate = Value(label="Rate", value=8_000, quantity=TOKEN_RATE, receipt=Receipt())
    marks = make_prediction(rate, 100, 1_000_000).marks
    assert next(mark["text"] for mark in marks if not mark["wide"]) == "100 tokens/s"
    shown = [mark for mark in marks if not mark["wide"]]
    ends = [(_left(mark), _left(mark) + 7.5 * len(mark["text"])) for mark in shown]
    assert all(end < begin for (_, end), (begin, _) in pairwise(ends))
    assert len(shown) < len(marks)


def test_the_labels_of_a_scale_on_a_phone_stand_in_even_steps():
    times = Value(label="Factor", value=37, quantity=RATIO, receipt=Receipt())
    marks = make_prediction(times, 1, 100_000).marks
    assert [mark["text"] for mark in marks if not mark["wide"]] == ["1×", "100×", "10,000×"]


def test_a_label_at_the_end_of_a_scale_does_not_stick_out():
    rate = Value(label="Rate", value=8_000, quantity=TOKEN_RATE, receipt=Receipt())
    first = make_prediction(rate, 100, 1_000_000).marks[0]
    assert (first["at"], first["back"]) == (0, 0)


def test_a_label_near_an_end_of_a_scale_stays_on_the_slider_of_a_phone():
    rate = Value(label="Rate", value=200, quantity=TOKEN_RATE, receipt=Receipt())
    marks = make_prediction(rate, 90, 520).marks
    first, last = marks[0], marks[-1]
    assert (first["text"], last["text"]) == ("100 tokens/s", "500 tokens/s")
    # Both are 90 pixels wide, and not as much as half of that is left beside their places.
    assert 0 <= _left(first) < 7.5
    assert 240 - 7.5 < _left(last) + 90 <= 240


def _left(mark):
    """Return where a label begins on a slider of 240 pixels."""
    return 2.4 * mark["at"] - 7.5 * len(mark["text"]) * mark["back"] / 100
