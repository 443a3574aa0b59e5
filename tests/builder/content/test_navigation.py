"""Where a reader can go from a page, and what stands before and after it."""

from dataclasses import replace

from builder.content import guide_order_checks, navigation
from builder.content.article import Article
from builder.content.library import Reader
from builder.content.navigation import LearningPath, PageLink, PagePosition, page_link


def article(slug, kind="guide", **given):
    folders = {"guide": "guides", "tool": "tools", "tab": "explorer", "page": "reference"}
    folder = folders.get(kind, "shelf")
    given.setdefault("text", f"+++\norder = {given.get('order', 0)}\npath = \nrequires = \n+++\n")
    return Article(
        source=f"content/{folder}/{slug}.md",
        slug=slug,
        url=f"{folder}/{slug}/",
        kind=kind,
        title=slug.title(),
        summary="x",
        body="",
        **given,
    )


ONE = article("one", path="A Start", order=1, next=("three",), readers=("all",), minutes=3)
TWO = article("two", path="A Start", order=2, requires=("one",))
THREE = article("three", path="B Further", order=1, requires=("one", "later"), planned=("later",))
LOST = article("lost", "tab", order=2, requires=("three",))
FOUND = article("found", "tab", order=1, requires=("three",))
WORDS = article("words", "page")
ABOUT = article("about", "page")
TOOL = article("tool", "tool")
TOML = "content/readers.toml"
ALL_BUT_READERS = (replace(ONE, readers=()), replace(TWO, text='requires = ["one"]\n'))
GROUPED = [("trace", "A file"), ("planner", "A plan"), ("log", "A file")]
ALL = (THREE, WORDS, TWO, LOST, ABOUT, ONE, TOOL, FOUND)


def titles(entries):
    return [one.slug for one in entries]


def test_paths_hold_their_guides_in_order():
    found = navigation.learning_paths(ALL)
    assert [(path.letter, path.name, titles(path.guides)) for path in found] == [
        ("A", "Start", ["one", "two"]),
        ("B", "Further", ["three"]),
    ]


def test_a_reader_has_the_guides_that_name_him_and_no_empty_list():
    readers = [Reader(key=key, title=key, text=key) for key in ("none", "all")]
    found = navigation.reader_paths(ALL, readers)
    assert [(path.reader.key, titles(path.guides)) for path in found] == [("all", ["one"])]


def test_reference_pages_stand_by_title():
    assert titles(navigation.reference_pages(ALL)) == ["about", "words"]


def test_a_guide_has_what_comes_before_and_after():
    places = navigation.page_positions(ALL)
    one, two, three = (places[guide.source] for guide in (ONE, TWO, THREE))
    assert (one.previous, one.following.slug) == (None, "two")
    assert (two.previous.slug, two.following.slug) == ("one", "three")
    assert (three.previous.slug, three.following) == ("two", None)
    assert (titles(three.requires), titles(one.next)) == (["one"], ["three"])
    assert one.page.minutes == 3


def test_tabs_stand_behind_their_guide_in_order_on_each_of_them():
    places = navigation.page_positions(ALL)
    for one in (THREE, LOST, FOUND):
        assert titles(places[one.source].tabs) == ["three", "found", "lost"]
    assert places[ONE.source].tabs == ()
    assert places[LOST.source].previous is None


def test_a_calculator_is_found_on_its_own_page_else_on_the_first_guide():
    pages = [
        (LOST, ("a",)),
        (THREE, ("a", "b")),
        (TWO, ("a",)),
        (TOOL, ("b",)),
    ]
    found = navigation.tool_links([(name, name.upper(), "Why?") for name in "abc"], pages)
    assert [(one.url, one.title, one.question, one.kind) for one in found] == [
        ("guides/two/#a", "A", "Why?", "tool"),
        ("tools/tool/", "B", "Why?", "tool"),
    ]


def test_the_toolbox_lists_tools_by_path_and_first_those_that_stand_in_none():
    pages = [(ONE, ("a",)), (THREE, ("b",)), (TOOL, ("c",))]
    found = navigation.tool_links([(name, name.upper(), "Why?") for name in "abc"], pages)
    groups = navigation.tools_by_learning_path(found, navigation.learning_paths(ALL))
    assert [(group.letter, [one.title for one in group.tools]) for group in groups] == [
        ("", ["C"]),
        ("A", ["A"]),
        ("B", ["B"]),
    ]


def test_tools_stand_under_what_a_reader_holds():
    shelf = article("tools", "shelf", groups=("A file", "A plan", "Nothing"))
    tools = [article(name, "tool", group=group) for name, group in GROUPED]
    found = navigation.tool_shelves((shelf, *tools))
    assert [(one.name, titles(one.tools)) for one in found] == [
        ("A file", ["log", "trace"]),
        ("A plan", ["planner"]),
    ]
    assert navigation.shelf_urls((shelf, *tools)) == {"tools": shelf.url}
    assert navigation.group_problems((shelf, *tools)) == []


def test_a_tool_of_no_group_is_named():
    shelf = article("tools", "shelf", groups=("A file", "A plan"))
    lost = article("lost", "tool", group="A number", text='title = "lost"\ngroup = "A number"\n')
    (found,) = navigation.group_problems((shelf, lost))
    assert str(found) == f"{lost.source}:2: group is 'A number'; {shelf.source} has A file, A plan"
    assert navigation.group_problems((lost,)) == []


def reader(*guides):
    return Reader(key="new", title="New", text="x", guides=guides)


def test_a_list_may_have_an_order_of_its_own_and_a_first_page():
    first = article("new", "course", minutes=6)
    (path,) = navigation.reader_paths((*ALL, first), [reader("three", "one")])
    assert (titles(path.guides), path.url, path.minutes) == (["three", "one"], first.url, 6)
    assert navigation.list_data([path]) == {
        "new": {
            "title": "New",
            "url": first.url,
            "guides": [[THREE.url, "Three"], [ONE.url, "One"]],
        }
    }


def test_what_a_list_requires_is_on_it_and_before():
    later = reader("two", "one")
    (found,) = navigation.reader_problems(ALL_BUT_READERS, [later])
    assert found.message == "requires names 'one', which comes later on the list 'new' of " + TOML
    (found,) = navigation.reader_problems(ALL_BUT_READERS, [reader("two")])
    assert found.message == "requires names 'one', which is not on the list 'new' of " + TOML
    assert navigation.reader_problems(ALL_BUT_READERS, [reader("one", "two")]) == []


def test_a_list_names_guides_that_are_there_and_a_guide_that_names_it_is_on_it():
    (found,) = navigation.reader_problems(ALL_BUT_READERS, [reader("one", "zero")])
    assert found.message == "'new' lists the guide 'zero', which does not exist"
    lost = article("lost", path="A Start", readers=("new",), text='readers = ["new"]\n')
    (found,) = navigation.reader_problems((*ALL_BUT_READERS, lost), [reader("one")])
    assert found.message == "readers names 'new', but the guide is not on the list 'new' of " + TOML


def test_sound_articles_have_no_problem():
    assert navigation.slug_problems(ALL) == []
    assert guide_order_checks.guide_problems(ALL) == []


def test_two_articles_of_one_name_are_named_both():
    twin = replace(article("one", "page"), title="Another")
    found = [str(one) for one in navigation.slug_problems((*ALL, twin))]
    assert found == ["content/reference/one.md:1: 'one' is also the name of content/guides/one.md"]


def test_a_circle_of_three_is_named_once_at_its_first_guide():
    circle = [
        article(name, path="A Start", order=at, requires=(after,))
        for at, (name, after) in enumerate([("b", "c"), ("c", "a"), ("a", "b")])
    ]
    (found,) = guide_order_checks.guide_problems(circle)
    assert str(found) == "content/guides/a.md:4: requires itself: b -> c -> a -> b"


def test_two_tabs_at_one_place_and_one_address():
    twin = article("other", "tab", order=1, requires=("three",))
    (found,) = guide_order_checks.guide_problems((*ALL, twin))
    assert str(found) == (
        "content/explorer/other.md:2: order 1 of the tabs of three is also that of "
        "content/explorer/found.md"
    )


def test_the_page_of_a_long_path_lists_those_around_it():
    guides = [article(f"g{n}", path="A Long", order=n) for n in range(90)]
    near = {place.page.slug: place.near for place in navigation.page_positions(guides).values()}
    assert {len(found) for found in near.values()} == {navigation.MAX_LISTED_GUIDES}
    assert all(slug in [one.slug for one in found] for slug, found in near.items())
    assert [one.slug for one in near["g0"]] == [
        f"g{n}" for n in range(navigation.MAX_LISTED_GUIDES)
    ]
    assert near["g89"][-1].slug == "g89"


def test_of_a_long_path_a_page_lists_forty_guides_around_itself():
    many = tuple(article(f"g{n:02}", path="A Long", order=n) for n in range(50))
    near = navigation.page_positions(many)
    listed = {n: titles(near[many[n].source].near) for n in (0, 20, 21, 30, 49)}
    assert {n: (found[0], found[-1], len(found)) for n, found in listed.items()} == {
        0: ("g00", "g39", 40),
        20: ("g00", "g39", 40),
        21: ("g01", "g40", 40),
        30: ("g10", "g49", 40),
        49: ("g10", "g49", 40),
    }


RING = Article(
    source="content/guides/ring.md",
    slug="ring",
    url="guides/ring/",
    kind="guide",
    title="Ring",
    question="Why?",
    summary="A ring.",
    minutes=9,
    text="text",
    body="body",
)


def test_an_entry_says_what_others_show_of_an_article():
    assert page_link(RING) == PageLink(
        slug="ring",
        url="guides/ring/",
        kind="guide",
        title="Ring",
        question="Why?",
        summary="A ring.",
        minutes=9,
    )


def test_an_article_has_one_entry():
    assert page_link(RING) is page_link(RING)


def test_a_path_may_have_no_page_and_a_page_no_tabs_and_no_neighbors():
    assert LearningPath(letter="B", name="Moving bytes", guides=()).url == ""
    place = PagePosition(
        page=page_link(RING), path="", previous=None, following=None, requires=(), next=()
    )
    assert (place.tabs, place.near) == ((), ())
