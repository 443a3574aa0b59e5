"""Pages of learning paths: their guides, what builds on what, the pictures of the figures."""

import re
import xml.etree.ElementTree as etree
from dataclasses import replace

import pytest

from builder.content import learning_paths, navigation
from builder.content.article import Article
from builder.content.learning_paths import draw_prerequisite_map
from builder.content.navigation import PageLink, page_link
from builder.figures import animated_previews, hero_figures
from engine.core.views import Frame, Scene, Shape
from tests.each import each

SHEETS = {"10-colors.css": ":root { --ink: #222; }", "40-charts.css": ".c-ink { color: #222; }"}
SCENE = (
    '<figure><svg xmlns="x" class="scene" role="img" viewBox="0 0 560 478" style="max-width:1px">'
    '<rect x="1"/><svg width="2"></svg></svg></figure>'
)
CHART = (
    '<svg xmlns="x" class="chart-svg" role="img" style="margin:6px 2px 46px 56px;'
    'width:calc(100% - 58px);height:280px"><svg viewBox="0 0 1000 280"><path d="M0 0"/></svg></svg>'
)


def article(slug, kind="guide", path="A First", order=1, requires=()):
    return Article(
        source=f"content/{kind}s/{slug}.md",
        slug=slug,
        url=f"{kind}s/{slug}/",
        kind=kind,
        title=slug.capitalize(),
        summary="",
        question="Why?",
        path=path,
        order=order,
        requires=tuple(requires),
        minutes=5,
        text="",
        body="",
    )


BASE = article("base", path="B Other")
ONE, TWO = article("one", requires=["base"]), article("two", order=2, requires=["one", "missing"])
PAGE = article("way", kind="path")
ALL = [TWO, PAGE, BASE, ONE]


def way(outcomes=None):
    return learning_paths.path_page(PAGE, ALL, outcomes or {}, "../../")


def test_a_path_has_its_guides_in_order():
    assert [step.guide.slug for step in way().steps] == ["one", "two"]


def test_a_guide_says_what_one_can_do_after_it():
    assert way({ONE.source: ("say why", "do it")}).steps[0].outcomes == ("say why", "do it")


def test_the_map_links_to_every_guide_and_to_what_it_builds_on():
    drawn = way().map
    assert [drawn.count(f'href="../../guides/{slug}/"') for slug in ("base", "one", "two")] == [
        1
    ] * 3
    assert drawn.count('class="arc"') == 2
    assert drawn.count('class="outside"') == 1
    etree.fromstring(drawn)


def test_an_arc_begins_and_ends_at_the_height_of_its_guides():
    drawn = learning_paths.draw_prerequisite_map(
        [page_link(article(slug)) for slug in "abc"], set(), {"c": ["a"]}, ""
    )
    tree = etree.fromstring(drawn)
    heights = [float(mark.get("cy")) for mark in tree.iter("circle")]
    (arc,) = (path.get("d") for path in tree.iter("path") if path.get("class") == "arc")
    begin, end = re.match(r"M\S+ (\S+?)H", arc)[1], re.search(r" (\S+?)H\S+$", arc)[1]
    assert [float(begin), float(end)] == [heights[0], heights[2]]
    assert 0 < heights[0] < heights[2] < float(tree.get("viewBox").split()[3])


def test_arcs_that_lie_over_one_another_have_lanes_of_their_own():
    entries = [page_link(article(slug)) for slug in "abc"]
    drawn = learning_paths.draw_prerequisite_map(entries, set(), {"b": ["a"], "c": ["a", "b"]}, "")
    sides = {part.split("V")[0].split()[-2] for part in drawn.split('class="arc"')[1:]}
    assert len(sides) == 2


def test_a_path_that_no_guide_is_on_and_a_second_page_are_errors():
    stray = replace(PAGE, slug="stray", path="Z Nowhere", source="content/paths/stray.md")
    second = replace(PAGE, slug="second", source="content/paths/second.md")
    messages = [
        problem.message for problem in learning_paths.path_page_problems([*ALL, stray, second])
    ]
    assert messages == [
        "no guide is on the path 'Z Nowhere'; there are A First, B Other",
        "'A First' has a page: content/paths/way.md",
    ]
    assert learning_paths.path_page_problems(ALL) == []


def test_a_learning_path_knows_its_page():
    urls = {path.letter: path.url for path in navigation.learning_paths(ALL)}
    assert urls == {"A": "paths/way/", "B": ""}


@pytest.fixture
def style(tmp_path):
    for name, text in SHEETS.items():
        (tmp_path / name).write_text(text)
    return hero_figures.drawing_rules(tmp_path)


@pytest.mark.parametrize(
    ("html", "size"), [(SCENE, ("584", "502")), (CHART, ("484", "356"))], ids=["scene", "chart"]
)
def test_a_picture_is_a_drawing_that_stands_alone(html, size, style):
    picture = hero_figures.standalone_figure(html, style)
    root = etree.fromstring(picture)
    assert (root.get("width"), root.get("height")) == size
    assert ".c-ink { color: #222; }" in picture


def test_a_picture_leaves_out_texts_that_only_a_wide_chart_has_room_for(style):
    assert ".chart-svg .wide{display:none}" in style


def test_what_is_no_drawing_has_no_picture():
    assert hero_figures.standalone_figure("<p>none</p>", "") == ""


def test_a_moving_picture_shows_its_states_in_turn_and_the_first_one_still(style):
    other = SCENE.replace('x="1"', 'x="9"')
    text = hero_figures.animated_figure([SCENE, other], style)
    root = etree.fromstring(text)
    states = [one for one in root.iter() if one.get("class", "").startswith("state")]
    assert [one.get("class") for one in states] == ["state s0", "state s1"]
    assert ['x="1"' in text, 'x="9"' in text] == [True, True]
    still, _, motion = text.partition("@media (prefers-reduced-motion:no-preference)")
    assert ".state{visibility:hidden}.s0{visibility:visible}" in still
    assert "animation" not in still
    assert "infinite" in motion


def test_frames_of_a_scene_begin_with_the_one_that_opens_it_and_go_round():
    shapes = [Shape(key="a", tag="rect", attributes={"x": str(at)}) for at in range(11)]
    frames = tuple(Frame(caption="", shapes=(shape,)) for shape in shapes)
    scene = Scene(title="", width=1, height=1, frames=frames, opening=5)
    places = [re.search(r'x="(\d+)"', one)[1] for one in animated_previews.scene_frames(scene)]
    assert places == ["5", "6", "8", "10", "0", "2"]


@pytest.mark.parametrize(
    "drawings", [[], [SCENE], ["<svg>", "<svg/>"]], ids=["none", "one", "other"]
)
def test_fewer_than_two_drawings_make_no_moving_picture(drawings):
    assert hero_figures.animated_figure(drawings, "") == ""


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
