"""What the decoder of counters tells beside its numbers: lines that it did not understand."""

from dataclasses import replace

from engine.calculators.moving_bytes.counter_decoder import Inputs, solve, views
from engine.core.text import render_text


def odd(text):
    inputs = Inputs(counters=text)
    result = solve(inputs)
    return views(inputs, result)["odd"]()


def test_lines_that_were_not_understood_are_listed_with_their_number_and_the_reason():
    table = odd(f"{Inputs().counters}\nwhat is this\n")
    assert len(table.rows) == 1
    line, text, reason = table.rows[0]
    assert text == "what is this"
    assert int(render_text(line)) == Inputs().counters.count("\n") + 2
    assert reason


def test_a_sample_that_is_understood_has_no_such_table():
    table = odd(Inputs().counters)
    assert table.columns == table.rows == ()


def test_of_several_ports_each_has_its_verdict_and_its_rates():
    inputs = Inputs()
    result = solve(inputs)
    (one,) = result.ports
    other = replace(one, name="the other", sent=1e9, received=2e9, verdict="idle")
    table = views(inputs, replace(result, ports=(one, other)))["ports"]()
    assert [[render_text(cell) for cell in row] for row in table.rows] == [
        ["the port", "Paused by the network", "11.8 GB/s and 11.8 GB/s"],
        ["the other", "Not this port", "1.00 GB/s and 2.00 GB/s"],
    ]
