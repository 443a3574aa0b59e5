"""A content file is read: its front matter, its kind, its address."""

import pytest

from builder.content.article import Article, parse_article
from builder.core.problem import Problem

PAGE = 'title = "Ring"\nsummary = "A ring."'
GUIDE = (
    PAGE + '\nquestion = "Why?"\npath = "B Moving bytes"\norder = 2\nupdated = 2026-01-31\n'
    "minutes = 9"
)
KEYS = (
    "title, question, summary, path, order, requires, next, planned, readers, group, "
    "groups, was, updated, minutes, draft"
)
NO_MATTER = "an article begins with TOML front matter between two lines '+++'"


def text_of(matter, body="Text.\n"):
    return f"+++\n{matter}\n+++\n{body}"


def read(matter, source="content/ring.md", body="Text.\n"):
    found, problems = parse_article(source, text_of(matter, body))
    assert problems == []
    return found


def wrong(matter, source="content/ring.md", *, checked_on=True):
    """The (line, message) of what is wrong with the keys of an article, which is checked on."""
    found, problems = parse_article(source, text_of(matter))
    assert (found is not None) == checked_on
    assert {one.path for one in problems} == {source}
    return [(one.line, one.message) for one in problems]


def test_a_page_needs_a_title_and_a_summary():
    assert read(PAGE) == Article(
        source="content/ring.md",
        slug="ring",
        url="ring/",
        kind="page",
        title="Ring",
        summary="A ring.",
        question="",
        path="",
        order=0,
        requires=(),
        next=(),
        planned=(),
        readers=(),
        was=(),
        updated="",
        minutes=0,
        draft=False,
        text='+++\ntitle = "Ring"\nsummary = "A ring."\n+++\nText.\n',
        body="\n\n\n\nText.",
    )


def test_a_guide_has_all_that_its_front_matter_says():
    lists = '\nrequires = ["a", "b"]\nnext = ["c"]\nplanned = ["d"]\nreaders = ["e"]\nwas = []'
    found = read(GUIDE + lists + "\ndraft = true", "content/guides/inner/ring.md")
    assert (found.kind, found.slug, found.url) == ("guide", "ring", "guides/inner/ring/")
    assert (found.question, found.path, found.order) == ("Why?", "B Moving bytes", 2)
    assert (found.updated, found.minutes, found.draft) == ("2026-01-31", 9, True)
    assert (found.requires, found.next, found.planned) == (("a", "b"), ("c",), ("d",))
    assert (found.readers, found.was) == (("e",), ())


@pytest.mark.parametrize(
    ("source", "kind", "slug", "url"),
    [
        ("content/index.md", "home", "index", ""),
        ("content/tools.md", "shelf", "tools", "tools/"),
        ("content/courses/new.md", "course", "new", "courses/new/"),
        ("content/about.md", "page", "about", "about/"),
        ("content/tools/lab.md", "tool", "lab", "tools/lab/"),
        ("content/tools/index.md", "tool", "index", "tools/"),
        ("content/explorer/x/tab.md", "tab", "tab", "explorer/x/tab/"),
        ("content/reference/a.b.md", "page", "a.b", "reference/a.b/"),
        ("content/authors/me.md", "page", "me", "authors/me/"),
    ],
)
def test_the_folder_says_the_kind_and_the_name_the_address(source, kind, slug, url):
    found = read(PAGE, source)
    assert (found.kind, found.slug, found.url) == (kind, slug, url)


def test_a_path_is_of_its_own_kind():
    found = read(PAGE + '\npath = "A First"', "content/paths/a.md")
    assert (found.kind, found.path) == ("path", "A First")


def test_a_folder_that_is_none_is_told_those_that_are():
    message = "there is no folder 'guide' for articles; there are "
    assert wrong(PAGE, "content/guide/a.md", checked_on=False) == [
        (1, message + "guides, tools, explorer, reference, authors, paths, courses")
    ]


@pytest.mark.parametrize(
    "text",
    ["", "Text.", "+++", "+++\ntitle = 1\n", "\n+++\n+++\n", "a\n+++\n+++\n", "++++\n+++\n"],
)
def test_a_text_without_front_matter_is_no_article(text):
    assert parse_article("content/a.md", text) == (None, [Problem("content/a.md", 1, NO_MATTER)])


def test_front_matter_without_a_line_lacks_what_it_needs():
    found, problems = parse_article("content/a.md", "+++\n+++\nText.\n+++\n")
    assert (found.title, found.body.strip()) == ("a", "Text.\n+++")
    assert problems == [
        Problem("content/a.md", 1, "front-matter key 'title' is missing"),
        Problem("content/a.md", 1, "front-matter key 'summary' is missing"),
    ]


def test_space_around_the_lines_of_the_front_matter_is_nothing():
    found, problems = parse_article("content/a.md", f" +++ \n{PAGE}\n  +++\nA\n+++\n\nB\n")
    assert problems == []
    assert found.body == "\n\n\n\nA\n+++\n\nB"


def test_a_body_stands_on_the_lines_of_its_file():
    found = read(GUIDE, "content/guides/a.md", "\nFirst.\n\nLast.")
    assert found.body.split("\n")[9:] == ["", "First.", "", "Last."]
    assert found.body.split("\n")[:9] == [""] * 9
    assert found.body.count("\n") == text_of(GUIDE, "\nFirst.\n\nLast.").count("\n")


def test_an_article_may_be_empty():
    found, problems = parse_article("content/a.md", f"+++\n{PAGE}\n+++")
    assert problems == []
    assert found.body == "\n\n\n\n"


def test_front_matter_that_is_no_toml_is_named_where_it_breaks():
    ((line, message),) = wrong('title = "Ring"\nsummary = A ring.', checked_on=False)
    assert line == 3
    assert message == "front matter: Invalid value (at line 3, column 11)"


def test_front_matter_that_ends_too_early_is_named_on_its_last_line():
    ((line, message),) = wrong('title = "Ring"\nsummary = """A', checked_on=False)
    assert line == 3
    assert message.startswith("front matter: ")


@pytest.mark.parametrize(
    ("more", "line", "message"),
    [
        ("titel = 1", 4, f"unknown front-matter key 'titel'; there are {KEYS}"),
        ("  titel=1", 4, f"unknown front-matter key 'titel'; there are {KEYS}"),
        ('"a(" = 1', 4, f"unknown front-matter key 'a('; there are {KEYS}"),
        ("titel.a = 1", 1, f"unknown front-matter key 'titel'; there are {KEYS}"),
        ("\nquestion = 3", 5, "front-matter key 'question' is 3; it has to be a text"),
        ('question = ""', 4, "front-matter key 'question' is empty"),
        ('order = "a"', 4, "front-matter key 'order' is 'a'; it has to be a whole number"),
        ("order = 1.5", 4, "front-matter key 'order' is 1.5; it has to be a whole number"),
        ("order = true", 4, "front-matter key 'order' is True; it has to be a whole number"),
        ("minutes = [1]", 4, "front-matter key 'minutes' is [1]; it has to be a whole number"),
        ("draft = 1", 4, "front-matter key 'draft' is 1; it has to be true or false"),
        ('next = "a"', 4, "front-matter key 'next' is 'a'; it has to be a list of texts"),
        ('next = ["a", 1]', 4, "front-matter key 'next' is ['a', 1]; it has to be a list of texts"),
        (
            'updated = "today"',
            4,
            "front-matter key 'updated' is 'today'; it has to be a date such as 2026-01-31",
        ),
        (
            "updated = 2026-01-31T10:00:00",
            4,
            "front-matter key 'updated' is datetime.datetime(2026, 1, 31, 10, 0); it has to be a "
            "date such as 2026-01-31",
        ),
        *(
            (
                f'path = "{path}"',
                4,
                f"the path '{path}' is not a letter and a name, such as 'B Moving bytes'",
            )
            for path in ("b Moving", "B", "B ", "B  Moving", "BMoving", "2 Moving", "Big Moving")
        ),
    ],
)
def test_a_key_that_cannot_be_used_is_named_on_its_line(more, line, message):
    assert wrong(f"{PAGE}\n{more}") == [(line, message)]


@pytest.mark.parametrize("path", ["B M", "A Moving bytes", "Z 1"])
def test_a_path_is_a_letter_and_a_name(path):
    assert read(f'{PAGE}\npath = "{path}"').path == path


def test_lists_and_numbers_may_be_empty():
    found = read(f"{PAGE}\nnext = []\norder = 0\ndraft = false")
    assert (found.next, found.order, found.draft) == ((), 0, False)


def test_a_key_that_begins_like_another_stands_on_a_line_of_its_own():
    assert wrong(f"{PAGE}\nnextly = 1\nnext = 1")[1][0] == 5


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("content/a.md", ["title", "summary"]),
        ("content/index.md", ["title", "summary"]),
        ("content/tools/a.md", ["title", "summary"]),
        ("content/explorer/a.md", ["title", "summary"]),
        ("content/paths/a.md", ["title", "summary", "path"]),
        (
            "content/guides/a.md",
            ["title", "summary", "question", "path", "order", "updated", "minutes"],
        ),
    ],
)
def test_what_an_article_lacks_is_named_by_its_kind(source, needed):
    assert wrong("", source) == [(1, f"front-matter key '{key}' is missing") for key in needed]


def test_what_is_wrong_comes_before_what_is_missing():
    assert wrong("title = 1\nx = 2") == [
        (2, "front-matter key 'title' is 1; it has to be a text"),
        (3, f"unknown front-matter key 'x'; there are {KEYS}"),
        (1, "front-matter key 'summary' is missing"),
    ]
