"""Glossary, bibliography and the readers' lists: made from what the content folder holds."""

import json
import re
import tomllib

import pytest

from builder.content import content_folder, navigation
from builder.markdown import reference_lists
from engine.core.numbers import DEFAULT
from engine.core.views import Table
from tests.each import each


def library(site, name):
    return tomllib.loads((site.root / "content" / name).read_text("utf-8"))


def with_page(site, mark):
    path = site.root / "content" / "lists.md"
    path.write_text(f'+++\ntitle = "Lists"\nsummary = "All of them."\n+++\n\n{mark}\n', "utf-8")
    return site.page("lists/index.html")


def with_readers(site, *keys):
    text = "".join(f'[{key}]\ntitle = "For {key}"\ntext = "What."\n' for key in keys)
    (site.root / "content" / "readers.toml").write_text(text, "utf-8")


def test_the_glossary_holds_every_term_once(live):
    page = with_page(live, "[[glossary.*]]")
    assert [page.count(f"<dt>{name}<") for name in library(live, "glossary.toml")] == [1]


def test_the_bibliography_holds_every_source_once(live):
    page = with_page(live, "[[bibliography.*]]")
    keys = list(library(live, "references.toml"))
    assert [page.count(f'id="ref-{key}"') for key in keys] == [1] * len(keys)


def test_the_bibliography_names_the_pages_that_cite_a_source(live):
    assert '<a href="../guides/first/">' in with_page(live, "[[bibliography.*]]")


def test_what_was_measured_is_shown_as_it_was_written(live):
    first = {"bytes": 96_400, "requests": 11, "layout shift": 0.0125, "live, ms": 1800}
    sides = {"this site": {"first": first, "again": {"bytes": 0}}, "b": {"first": {}, "again": {}}}
    about = {"date": "2026-11-23", "machine": "2 cores", "load": 0.5}
    written = json.dumps({**about, "places": {"localhost": sides}})
    (live.root / "content" / "measured.json").write_text(written, "utf-8")
    page = with_page(live, "[[measured.*]]")
    cells = re.findall(r"<t[hd]\b[^>]*>([^<]*)", page)
    assert cells[:5] == ["Made with", "kB", "Requests", "Layout shift", "Live, ms"]
    assert cells[5:10] == ["this site", "96", "11", "0.013", "1,800"]
    assert cells[10:15] == ["b", "none", "none", "none", "none"]


def test_a_file_of_measures_that_cannot_be_read_is_named(live):
    (live.root / "content" / "measured.json").write_text("{\n1", "utf-8")
    assert [str(problem) for problem in live.build().problems] == [
        "content/measured.json:2: Expecting property name enclosed in double quotes"
    ]


def test_a_reader_gets_the_guides_that_name_them(live):
    with_readers(live, "hurried", "idle")
    live.edit("content/guides/first.md", "order = 1", 'order = 1\nreaders = ["hurried"]')
    texts = content_folder.read_content(live.folders, drafts=False)
    paths = navigation.reader_paths(texts.articles, texts.library.readers)
    assert [(path.reader.key, [guide.slug for guide in path.guides]) for path in paths] == [
        ("hurried", ["first"])
    ]


def test_an_unknown_reader_is_named_with_its_line_and_the_known_ones(live):
    with_readers(live, "hurried")
    live.edit("content/guides/first.md", "order = 1", 'order = 1\nreaders = ["idle"]')
    (problem,) = live.problems()
    assert "readers names 'idle', not in content/readers.toml; there are hurried" in problem


@pytest.fixture
def tables(monkeypatch):
    def kept(table, display):
        assert display is DEFAULT
        return table

    monkeypatch.setattr(reference_lists, "table_fragment", kept)
    return lambda places: list(reference_lists.measurement_tables({"places": places}))


def test_a_place_has_a_table_of_first_visits_and_one_of_those_after_them(tables):
    sides = {
        "ours": {"first": {"bytes": 12_000, "seen": 300}, "again": {"seen": 40}},
        "theirs": {"first": {"seen": 900, "used": 1200}, "again": {"bytes": 0, "seen": 70}},
    }
    assert tables({"home page": sides}) == [
        Table(
            title="Home page, first visit",
            columns=("Made with", "kB", "Seen", "Used"),
            rows=(("ours", "12", "300", "none"), ("theirs", "none", "900", "1,200")),
        ),
        Table(
            title="Home page, repeated visit",
            columns=("Made with", "Seen", "kB"),
            rows=(("ours", "40", "none"), ("theirs", "70", "0")),
        ),
    ]


def test_places_come_in_the_order_of_the_file(tables):
    side = {"ours": {"first": {}, "again": {}}}
    assert [table.title for table in tables({"b": side, "a": side})] == [
        "B, first visit",
        "B, repeated visit",
        "A, first visit",
        "A, repeated visit",
    ]


def test_nothing_measured_gives_no_table():
    assert list(reference_lists.measurement_tables({})) == []


def test_a_table_is_html():
    sides = {"ours": {"first": {"seen": 300}, "again": {"seen": 40}}}
    first, again = reference_lists.measurement_tables({"places": {"home": sides}})
    assert "<caption>Home, first visit</caption>" in first
    assert "<caption>Home, repeated visit</caption>" in again


@each(
    ("name", "value", "told"),
    [
        ("bytes", 1_234_567, "1,235"),
        ("bytes", 400, "0"),
        ("bytes", 600, "1"),
        ("bytes", None, "none"),
        ("seen", 0, "0"),
        ("seen", 0.0014, "0.001"),
        ("seen", 0.9994, "0.999"),
        ("seen", 1, "1"),
        ("seen", 1.4, "1"),
        ("seen", 12345.6, "12,346"),
        ("seen", None, "none"),
    ],
)
def test_a_cell_is_rounded_to_what_can_be_read(tables, name, value, told):
    table = tables({"home": {"ours": {"first": {name: value}, "again": {}}}})[0]
    assert table.rows == (("ours", told),)
