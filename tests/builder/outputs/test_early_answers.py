"""The home page's answers before Python has come are the engine's own, at the steps of a drag."""

import json

import pytest

from builder.outputs.extra_outputs import STEPS, early_answers, placed_numbers
from engine.answer import reply

INPUT = '<input class="drag" name="{}" data-of="gradient_sync" type="text">'
HTML = (
    INPUT.format("port")
    + INPUT.format("world_size")
    + INPUT.format("port")
    + '<a class="number" href="receipts/#receipt-gradient_sync-step_time">1 s</a>'
    + '<figure class="chart" data-of="gradient_sync" data-output="timeline">'
    + '<figure class="chart" data-of="zero" data-output="other">'
)


@pytest.fixture(scope="module")
def answers():
    return early_answers(placed_numbers(HTML))["gradient_sync"]


def test_what_a_page_shows_is_found_and_what_nobody_can_change_is_left_out():
    assert placed_numbers(HTML) == {
        "gradient_sync": (["port", "world_size"], ["step_time", "timeline"])
    }
    assert placed_numbers("<p>Text.</p>") == {}
    assert early_answers({}) == {}


def test_every_row_is_the_engines_reply_at_that_value(answers):
    for name, rows in answers["inputs"].items():
        for steps, value, row in rows[::7]:
            asked = {"calculator": "gradient_sync", "values": {name: value}}
            straight = reply(asked | {"only": ["step_time", "timeline"], "short": True})
            assert row["outputs"]["timeline"] == straight["outputs"]["timeline"], (name, steps)
            assert row["inputs"] == straight["inputs"]
            assert row["inputs"][name]["changed"] == (steps != 0)
    assert {"step_time", "timeline"} <= {*answers["outputs"]}


def test_rows_stand_in_order_and_end_at_the_limits(answers):
    for rows in answers["inputs"].values():
        assert [row[0] for row in rows] == sorted(row[0] for row in rows)
        assert len({row[1] for row in rows}) == len(rows)
        assert [row[0] for row in rows].count(0) == 1
    assert [int(row[1]) for row in answers["inputs"]["world_size"]][:2] == [2, 4]
    assert max(row[0] for row in answers["inputs"]["port"]) == STEPS[-1]


def test_it_is_small(answers):
    assert len(json.dumps(answers)) < 1_000_000
