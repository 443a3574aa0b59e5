"""Guides stand in an order without circles, each at a place and an address of its own."""

import pytest

from builder.content import guide_order_checks
from builder.content.article import Article

TEXT = """+++
title = "T"
path = "A Start"
  order = 1
requires = []
order = 2
+++
"""


def article(slug, kind="guide", **values):
    given = {"source": f"{slug}.md", "url": f"{slug}/", "text": TEXT, "order": ord(slug[0])}
    given |= {"path": "A Start"} | values
    return Article(**given, slug=slug, kind=kind, title="T", summary="S", body="")


def guides(**requires):
    return [article(slug, requires=needed) for slug, needed in requires.items()]


def found(*articles):
    return [str(one) for one in guide_order_checks.guide_problems(iter(articles))]


def test_nothing_is_wrong_between_no_articles():
    assert found() == []


@pytest.mark.parametrize(
    "requires",
    [
        {"a": (), "b": ("a",), "c": ("b", "a")},
        {"d": ("b", "c"), "b": ("a",), "c": ("a",), "a": ()},
        {"a": ("planned",), "b": ("a", "planned")},
    ],
)
def test_guides_that_lead_back_to_none_are_sound(requires):
    assert found(*guides(**requires)) == []


@pytest.mark.parametrize(
    ("requires", "said"),
    [
        ({"a": ("a",)}, ["a.md:5: requires itself: a -> a"]),
        ({"a": ("b",), "b": ("a",)}, ["a.md:5: requires itself: a -> b -> a"]),
        # The way is told as it was found, at the guide whose name comes first.
        ({"b": ("a",), "a": ("b",)}, ["a.md:5: requires itself: b -> a -> b"]),
        # What leads to a circle is no part of it.
        (
            {"d": ("a", "c"), "c": ("b",), "b": ("c",), "a": ()},
            ["b.md:5: requires itself: c -> b -> c"],
        ),
        (
            {"a": ("b",), "b": ("a", "c"), "c": ("b",)},
            ["a.md:5: requires itself: a -> b -> a", "b.md:5: requires itself: b -> c -> b"],
        ),
    ],
)
def test_each_circle_is_named_once(requires, said):
    assert found(*guides(**requires)) == said


def test_only_guides_stand_in_circles():
    assert found(article("a", kind="page", requires=("a",))) == []
    assert found(article("a", requires=("b",)), article("b", "tab", requires=("a",))) == []


def test_two_guides_of_a_path_have_two_places():
    places = [article("a", order=7), article("b", order=7), article("c", order=7)]
    assert found(*places) == [
        "b.md:4: order 7 of the path 'A Start' is also that of a.md",
        "c.md:4: order 7 of the path 'A Start' is also that of a.md",
    ]


def test_two_tabs_of_a_guide_have_two_places():
    places = [
        article("a", "tab", order=0, requires=("x", "y")),
        article("b", "tab", order=0, requires=("x", "y")),
        article("c", "tab", order=0, requires=("x",)),
        article("d", "tab", order=1, requires=("x",)),
    ]
    assert found(*places) == ["b.md:4: order 0 of the tabs of x, y is also that of a.md"]


def test_other_articles_may_share_a_place():
    assert found(article("a", order=1), article("b", order=2)) == []
    assert found(article("a", order=1), article("b", order=1, path="B Next")) == []
    assert found(article("a", order=1), article("b", "tab", order=1)) == []
    assert found(article("a", "page", order=1), article("b", "page", order=1)) == []


def test_a_letter_has_one_name():
    named = [article("a"), article("b", path="A Stars"), article("c"), article("d", path="B Start")]
    assert found(*named) == ["b.md:3: the path 'A Stars' is called 'A Start' in a.md"]
    assert found(article("a"), article("b", "tab", path="A Stars")) == []


def test_two_articles_have_two_addresses_whatever_their_capitals():
    same = [
        article("a", url="guides/One/"),
        article("b", "page", url="guides/one/"),
        article("c", "home", url=""),
        article("d", "page", url=""),
        article("e", url="guides/two/"),
    ]
    assert found(*same) == [
        "b.md:1: has the address of a.md: guides/one/",
        "d.md:1: has the address of c.md: the home page",
    ]


def test_circles_come_first_then_places_letters_and_addresses():
    every = [
        article("t", "tab", order=3),
        article("u", "tab", order=3, url="a/"),
        article("a", order=1, requires=("a",)),
        article("b", order=1),
        article("c", path="A Stars"),
    ]
    assert found(*every) == [
        "a.md:5: requires itself: a -> a",
        "b.md:4: order 1 of the path 'A Start' is also that of a.md",
        "u.md:4: order 3 of the tabs of  is also that of t.md",
        "c.md:3: the path 'A Stars' is called 'A Start' in a.md",
        "a.md:1: has the address of u.md: a/",
    ]


@pytest.mark.parametrize(("key", "line"), [("title", 2), ("order", 4), ("+++", 1), ("draft", 1)])
def test_the_line_of_a_key_is_its_first_and_that_of_no_key_is_one(key, line):
    assert guide_order_checks.front_matter_line(article("a"), key) == line
