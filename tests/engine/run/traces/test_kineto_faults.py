"""Texts that are no trace: what is wrong, in which line and column."""

import pytest

from engine.run.traces.kineto import TraceFault, read_kineto
from tests.each import each


def fault(text):
    with pytest.raises(TraceFault) as caught:
        read_kineto(text, "a.json")
    return caught.value.parts


@each(
    ("text", "kind", "line", "column"),
    [
        ("", "empty", 1, 1),
        ("\ufeff \r\n\t", "empty", 2, 2),
        ("\n  name", "not-json", 2, 3),
        ('{"a": "x', "cut", 1, 9),
        ('{"a":\n[1,  \n', "cut", 3, 1),
        ('[1,\n 2 3]', "syntax", 2, 4),
        ("\n [NaN]", "syntax", 2, 2),
        ("\n [1e5, Infinity]", "syntax", 2, 2),
    ],
)  # fmt: skip
def test_a_text_that_is_no_json_is_refused_at_its_place(text, kind, line, column):
    parts = fault(text)
    assert (parts["kind"], parts["file"]) == (kind, "a.json")
    assert (parts["line"], parts["column"]) == (line, column)


def test_of_a_text_that_is_no_json_its_first_line_is_shown():
    assert fault("\ufeffname,start\r\na,1")["beginning"] == "name,start"


def test_a_text_without_events_of_a_gpu_is_refused_with_their_number():
    assert fault('{"traceEvents": {}}') == {"kind": "no-events", "file": "a.json"}
    assert fault("[1, 2, 3]") == {"kind": "no-gpu", "file": "a.json", "events": 3}
