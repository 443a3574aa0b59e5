"""What a page's data are written as, and what its live charts answer the pointer with."""

import json

import pytest

from builder.figures.bokeh_templates import document
from builder.pages.page import compact_json, figures_json


def test_the_same_value_gives_the_same_line():
    assert compact_json({"b": [1, 2], "a": "é"}) == compact_json({"a": "é", "b": [1, 2]})
    assert compact_json({"b": [1, 2], "a": "é"}) == '{"a":"é","b":[1,2]}'


def test_the_figures_of_a_page_are_one_object_by_their_names():
    assert figures_json({"b": "[2]", "a": '{"x":1}'}) == b'{"a":{"x":1},"b":[2]}'


@pytest.mark.parametrize(("kind", "along"), [("lines", True), ("bars", False), ("heatmap", False)])
def test_a_curve_answers_anywhere_above_a_point_and_other_marks_where_they_are(kind, along):
    told = json.dumps(document(kind))
    assert ('"mode": "vline"' in told) == along
    assert ("@label" in told) != along
