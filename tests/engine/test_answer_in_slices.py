"""A search answers in slices: how far it is, until it is there; the end is that of one go."""

from itertools import count

import pytest

from engine.answer import reply, solving
from engine.form.planner import answer as planner

ASKED = {
    "calculator": "planner",
    "values": {"world_size": "16", "model": "llama-3-8b", "global_batch_size": "64"},
    "only": ["step", "table", "map"],
    "within": 0.03,
    "rest": True,
}


@pytest.fixture(autouse=True)
def _afresh():
    solving.cache_clear()
    planner._shared_search.cache_clear()
    yield
    solving.cache_clear()
    planner._shared_search.cache_clear()


def clock():
    """A clock on which every look costs a twentieth of a second."""
    ticks = count()
    return lambda: next(ticks) / 20


def test_it_says_how_far_it_is_until_there_are_numbers():
    time, shares = clock(), []
    while "progress" in (found := reply(ASKED, time)):
        assert found["outputs"] == {}
        assert found["extra"] == {}
        assert found["later"] == sorted(ASKED["only"])
        assert found["inputs"]["world_size"]["value"] == "16"
        shares.append(found["progress"]["share"])
        assert len(shares) < 5000
    assert len(shares) > 10
    assert all(0 <= share <= 1 for share in shares)
    assert "splits" in reply(ASKED | {"values": {"world_size": "24"}}, time)["progress"]["text"]
    assert found["outputs"]["step"]["kind"] == "value"


def test_views_in_slices_come_later_and_are_those_of_one_go():
    time, made, left = clock(), {}, ASKED["only"]
    while left:  # as a page does: it asks for what it has not got
        found = reply(ASKED | {"only": left}, time)
        made |= found["outputs"]
        left = found.get("later", [])
    assert {"step", "table", "map"} == set(made)
    solving.cache_clear()
    planner._shared_search.cache_clear()
    assert made == reply(ASKED)["outputs"]


def test_other_inputs_are_searched_anew_and_the_former_ones_go_on_where_they_were():
    time = clock()
    for _ in range(20):
        before = reply(ASKED, time)["progress"]
    other = reply(ASKED | {"values": {"world_size": "32"}}, time)["progress"]
    assert other["text"] != before["text"]
    again = reply(ASKED, time)
    assert "progress" not in again or again["progress"]["text"] != other["text"]


def test_a_plan_of_the_readers_own_needs_no_search_of_its_own():
    whole = reply(ASKED)["outputs"]["step"]
    own = reply(ASKED | {"values": ASKED["values"] | {"own_tensor": "4"}}, clock())
    assert "progress" not in own or own["progress"]["share"] == 1.0
    assert own["outputs"].get("step", whole) == whole


def test_without_a_clock_it_is_answered_whole():
    found = reply(ASKED)
    assert "progress" not in found
    assert set(found["outputs"]) == set(ASKED["only"])
