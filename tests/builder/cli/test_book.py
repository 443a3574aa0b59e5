"""A path as one document: chapters apart from one another, and the page on which each begins."""

import re

import pytest

from builder.cli import book
from builder.content.navigation import LearningPath, PageLink
from builder.core.problem import ServiceError
from builder.core.project import Project

PROJECT = Project(name="A & B", engine="engine", language="fr")
ENTRIES = {
    slug: PageLink(
        slug=slug,
        url=f"guides/{slug}/",
        kind="guide",
        title=slug.title(),
        question="",
        summary="",
        minutes=1,
    )
    for slug in ("ring", "tree")
}
PATH = LearningPath(letter="B", name="Moving <bytes>", guides=tuple(ENTRIES.values()))
PAGE = """<body><header>Menu</header><article><h1>{title}</h1><h2 id="why">Why</h2>
<a href="#why">above</a> <a href="../tree/?x=1#why">there</a> <a href="../../tools/">elsewhere</a>
<a href="../tree/">whole</a>
<img src="../../assets/dot.svg"><script>1</script><template>t</template>
<svg><pattern id="p"></pattern><rect fill="url(#p)"/></svg>
<details><summary>More</summary>folded</details></article></body>"""


def html(tmp_path, **numbers):
    pages = {slug: PAGE.format(title=entry.title) for slug, entry in ENTRIES.items()}
    return book.book_html(PATH, pages, tmp_path, "assets/main.css", numbers, PROJECT)


def test_chapters_are_whole_unfolded_and_apart(tmp_path):
    text = html(tmp_path)
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert 'href="#ring--why"' in text
    assert "url(#tree--p)" in text
    assert text.count('<a href="#tree--why">there</a>') == 2
    assert text.count('<a href="#tree">whole</a>') == 2
    assert "<a>elsewhere</a>" in text
    assert f'src="{tmp_path.resolve().as_uri()}/assets/dot.svg"' in text
    assert text.count("<details open>") == 2
    assert not re.search("Menu|<script|<template", text)
    assert "Moving &lt;bytes&gt;" in text
    assert "<p>A &amp; B</p>" in text
    assert text.startswith('<!doctype html><html lang="fr">')


def test_the_contents_lead_to_the_chapters_and_name_their_pages(tmp_path):
    text = html(tmp_path, ring=3, tree=17)
    rows = re.findall(r'<li><a href="#(\w+)">(\w+)</a><span class="page">(\d+)</span>', text)
    assert rows == [("ring", "Ring", "3"), ("tree", "Tree", "17")]
    assert {name for name, _, _ in rows} <= set(re.findall(r'class="chapter" id="(\w+)"', text))


PDF = b"""1 0 obj\n<</Type /Pages\n/Kids [2 0 R 3 0 R]>>\nendobj
2 0 obj\n<</Type /Page>>\nendobj\n3 0 obj\n<</Type /Pages /Kids [5 0 R 4 0 R]>>\nendobj
4 0 obj\n<</Type /Page>>\nendobj\n5 0 obj\n<</Type /Page /Dest /tree>>\nendobj
6 0 obj\n<</ring [2 0 R /XYZ 6 8 0]\n/tree [4 0 R /XYZ 6 8 0]
/tree--why [5 0 R /XYZ 6 8 0]>>\nendobj"""


def test_pages_are_counted_in_the_order_of_the_document():
    assert book.pages_of_links(PDF, ["ring", "tree", "none"]) == {"ring": 1, "tree": 3}


def test_without_a_chromium_it_says_so(monkeypatch):
    monkeypatch.delenv("WALLCLOCK_CHROMIUM", raising=False)
    monkeypatch.setattr(book.shutil, "which", lambda _: None)
    with pytest.raises(ServiceError, match="printed by Chromium"):
        book.find_chromium()


def test_a_browser_that_cannot_print_is_quoted(tmp_path):
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\necho no paper >&2\nexit 3\n")
    browser.chmod(0o755)
    with pytest.raises(ServiceError) as raised:
        book.print_pdf("<p>x</p>", str(browser))
    assert str(raised.value) == "Chromium could not print: no paper"
