"""Views within a time: quick ones first, the others named, everything in the end."""

from functools import partial

import pytest

from engine import budget as module
from engine.budget import SLICE, Budget, reply_views, slice_limit
from engine.calculator import LazyViews
from engine.core.views import Receipt, Value


class Clock:
    """Seconds that pass only when a view takes them."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(module, "_costs", {})
    monkeypatch.setattr(module, "_longest_steps", {})
    return Clock()


def lazy(clock, **seconds):
    """Views that take so long to be made; each is its own name."""

    def made(name, taken):
        clock.now += taken
        return name

    return LazyViews({name: partial(made, name, taken) for name, taken in seconds.items()})


def ask(clock, views, within, only=None, **rest):
    budget = Budget(clock=clock, within=within, calculator="some", rest=rest.pop("rest", False))
    return reply_views(views, only, str.upper, budget, **rest)


def learnt(clock, **seconds):
    """Views of which it is known what they cost."""
    ask(clock, lazy(clock, **seconds), sum(seconds.values()) + 1)
    return lazy(clock, **seconds)


def test_without_a_budget_everything_is_made_in_the_order_of_the_page(clock):
    found = reply_views(lazy(clock, a=3.0, b=1.0), None, str.upper)
    assert (list(found.outputs.items()), found.later) == ([("a", "A"), ("b", "B")], [])


def test_what_would_take_too_long_is_named_and_not_made(clock):
    views = learnt(clock, slow=20.0, quick=0.1)
    before = clock.now
    found = ask(clock, views, 1.0)
    assert (found.outputs, found.later) == ({"quick": "QUICK"}, ["slow"])
    assert clock.now - before == pytest.approx(0.1)


def test_what_is_ready_comes_whatever_else_is_asked_for(clock):
    views = LazyViews({"slow": partial(str, "slow"), "ready": "ready"})
    module._costs["some", "slow"] = 20.0
    found = ask(clock, views, 1.0)
    assert (found.outputs, found.later) == ({"ready": "READY"}, ["slow"])


def test_a_number_comes_at_once_though_writing_it_was_once_interrupted(clock):
    number = Value(label="Step", value=1.0, quantity="duration", receipt=Receipt())
    views = LazyViews({"slow": "ready as well", "number": number})
    module._costs |= {("some", "slow"): 20.0, ("some", "number"): 20.0}
    found = reply_views(views, None, str, Budget(clock=clock, within=1.0, calculator="some"))
    assert (list(found.outputs), found.later) == (["number"], ["slow"])


def test_a_view_of_unknown_cost_is_tried_while_there_is_time(clock):
    found = ask(clock, lazy(clock, first=2.0, second=0.1), 1.0)
    assert (list(found.outputs), found.later) == (["first"], ["second"])


def test_a_single_view_may_take_four_times_as_long(clock):
    assert list(ask(clock, learnt(clock, one=3.9), 1.0).outputs) == ["one"]
    assert ask(clock, learnt(clock, one=4.1), 1.0).later == ["one"]


def test_while_the_reader_rests_one_view_is_made_however_long_it_takes(clock):
    views = learnt(clock, slow=20.0, slower=30.0)
    found = ask(clock, views, 1.0, rest=True)
    assert (list(found.outputs), found.later) == (["slow"], ["slower"])


def test_asking_for_the_rest_comes_to_an_end(clock):
    views, left, rounds = lazy(clock, **{f"v{n}": 1.0 + n for n in range(5)}), None, 0
    while left is None or left:
        left, rounds = ask(clock, views, 0.5, only=left, rest=True).later, rounds + 1
    assert rounds == 5


def test_what_is_needed_is_made_whatever_it_costs(clock):
    found = ask(clock, learnt(clock, slow=20.0, quick=0.1), 1.0, required=["slow"])
    assert (list(found.outputs), found.later) == (["slow", "quick"], [])


def test_a_view_that_was_kept_does_not_pass_for_a_quick_one(clock):
    views = learnt(clock, slow=20.0, quick=0.1)
    ask(clock, views, 100.0)
    ask(clock, views, 100.0)
    assert ask(clock, lazy(clock, slow=20.0, quick=0.1), 1.0).later == ["slow"]


def test_the_outputs_come_in_the_order_of_the_page(clock):
    assert list(ask(clock, learnt(clock, a=3.0, b=1.0, c=2.0), 10.0).outputs) == ["a", "b", "c"]


def test_a_slice_is_over_before_a_step_that_lately_did_not_fit(clock):
    step = 0.7 * SLICE
    first = slice_limit(clock, "some")
    clock.now += step
    assert first()
    clock.now += step  # between two replies
    second = slice_limit(clock, "some")
    clock.now += 0.4 * SLICE
    assert second()
    other = slice_limit(clock, "other")
    clock.now += 0.4 * SLICE
    assert not other()


def test_views_end_with_the_slice_that_the_search_before_them_began(clock):
    over = slice_limit(clock)
    clock.now += 0.9 * SLICE  # the search

    def figure():
        for _ in range(9):
            clock.now += 0.2 * SLICE
            yield None
        return "figure"

    views, began = LazyViews({"figure": figure}), clock.now
    budget = Budget(clock=clock, within=SLICE, calculator="some", rest=True, over=over)
    assert reply_views(views, None, str, budget).later == ["figure"]
    assert clock.now - began == pytest.approx(0.2 * SLICE)
