"""What the decoder of counters tells beside its numbers: lines that it did not understand."""

from engine.basis.text import words
from engine.calculators.moving_bytes.counter_decoder.calculator import solve, views
from engine.calculators.moving_bytes.counter_decoder.inputs import Inputs


def odd(text):
    inputs = Inputs(counters=text)
    result = solve(inputs)
    return result, views(inputs, result)["odd"]()


def test_lines_that_were_not_understood_are_listed_with_their_number_and_the_reason():
    result, table = odd(f"{Inputs().counters}\nwhat is this\n")
    assert result.num_odd == len(table.rows) == 1
    line, text, reason = table.rows[0]
    assert text == "what is this"
    assert int(words(line)) == Inputs().counters.count("\n") + 2
    assert reason


def test_a_sample_that_is_understood_has_no_such_table():
    result, table = odd(Inputs().counters)
    assert result.num_odd == 0
    assert table.columns == table.rows == ()
