"""The map of a learning path, in pixels: rows of 34, lanes of 9, gaps of 14."""

import re

from builder.content.learning_paths import draw_prerequisite_map
from builder.content.navigation import PageLink
from tests.each import each


def entry(slug, title=""):
    return PageLink(
        slug=slug,
        url=f"guides/{slug}/",
        kind="guide",
        title=title or slug,
        question="",
        summary="",
        minutes=1,
    )


def arcs_of(requires, slugs="abcd"):
    drawn = draw_prerequisite_map([entry(slug) for slug in slugs], set(), requires, "")
    return re.findall(r'class="arc" d="([^"]*)"', drawn)


def sides_of(requires, slugs="abcd"):
    """Return how far left each arc swings, in the order of drawing."""
    return [int(re.search(r"Q(\d+)", arc)[1]) for arc in arcs_of(requires, slugs)]


def test_a_guide_alone_has_a_row_and_no_arc():
    # The gutter is 9 + 14 = 23, and the picture 23 + 14 + 8.4 x 4 = 70.6 wide.
    assert draw_prerequisite_map([entry("a", "Ring")], set(), {}, "../../") == (
        '<svg class="path-map" viewBox="0 0 70.6 34" style="max-width:70.6px" '
        'role="group" aria-label="What each guide builds on">'
        '<a href="../../guides/a/"><circle cx="23" cy="17" r="5"/>'
        '<text x="37" y="22">Ring</text></a></svg>'
    )


def test_a_path_without_guides_is_an_empty_map():
    assert draw_prerequisite_map([], set(), {"a": ["b"]}, "") == (
        '<svg class="path-map" viewBox="0 0 37 0" style="max-width:37px" '
        'role="group" aria-label="What each guide builds on"></svg>'
    )


def test_an_arc_leads_down_from_what_a_guide_builds_on():
    # One lane: the gutter is 2 x 9 + 14 = 32; the arc swings to 32 - 9 = 23, in turns of 8.
    drawn = draw_prerequisite_map([entry("a"), entry("b")], set(), {"b": ["a"]}, "")
    assert drawn.startswith('<svg class="path-map" viewBox="0 0 54.4 68" style="max-width:54.4px"')
    assert (
        '<path class="arc" d="M32 17H31Q23 17 23 25V43Q23 51 31 51H25"/>'
        '<path class="tip" d="M21 47L26 51L21 55"/>'
    ) in drawn
    assert drawn.index("<path") < drawn.index('<a href="guides/a/">')
    assert '<circle cx="32" cy="51" r="5"/><text x="46" y="56">b</text>' in drawn


def test_an_arc_leads_up_where_what_is_needed_comes_later():
    assert arcs_of({"a": ["b"]}, "ab") == ["M32 51H31Q23 51 23 43V25Q23 17 31 17H25"]


def test_what_is_on_no_row_has_no_arc():
    assert arcs_of({"b": ["elsewhere"], "elsewhere": ["a"]}) == []


def test_the_same_prerequisite_twice_is_one_arc():
    assert len(arcs_of({"b": ["a", "a"]})) == 1


@each(
    ("requires", "sides"),
    [
        ({"b": ["a"], "c": ["b"]}, [23, 23]),  # they touch, and do not meet
        ({"b": ["a"], "d": ["c"]}, [23, 23]),
        ({"c": ["a", "b"]}, [32, 23]),  # the shorter one is drawn first, and lies inside
        ({"c": ["b", "a"]}, [32, 23]),
        ({"c": ["a"], "d": ["b"]}, [32, 23]),  # they cross
        ({"d": ["a", "b", "c"]}, [41, 32, 23]),
        ({"a": ["c"], "c": ["b"]}, [32, 23]),  # the longer one leads up
        ({"b": ["c"], "c": ["a"]}, [32, 23]),  # the shorter one leads up
        ({"a": ["b"], "b": ["c"]}, [23, 23]),  # both lead up, and touch
        ({"b": ["a"], "c": ["b"], "d": ["a"]}, [32, 32, 23]),  # past the farther of two
    ],
)
def test_an_arc_swings_past_every_shorter_one_that_it_meets(requires, sides):
    assert sides_of(requires) == sides


def test_a_guide_of_another_path_is_marked():
    drawn = draw_prerequisite_map([entry("a"), entry("b")], {"b"}, {}, "")
    assert '<a href="guides/a/"><circle' in drawn
    assert '<a href="guides/b/" class="outside"><circle' in drawn


@each(
    ("title", "shown"),
    [
        ("Ring: the first: one", "Ring"),
        ("Ring:the", "Ring:the"),
        ("A & B", "A &amp; B"),
        ("Long title", "Long title"),
    ],
)
def test_a_title_is_shown_up_to_its_colon(title, shown):
    assert f">{shown}</text>" in draw_prerequisite_map([entry("a", title)], set(), {}, "")


def test_the_widest_title_without_what_follows_its_colon_gives_the_width():
    # 23 + 14 + 8.4 x 5 = 79
    drawn = draw_prerequisite_map(
        [entry("a", "Abc"), entry("b", "Abcde: and more"), entry("c", "A")], set(), {}, ""
    )
    assert 'viewBox="0 0 79 102"' in drawn
