"""A path is printed by a real Chromium, and its contents name the right pages."""

import re
from types import SimpleNamespace

import pytest

from builder.cli import book
from builder.core.project import Project
from tests.browser.conftest import chromium

pytestmark = pytest.mark.browser
LONG = "<p>" + "All ranks send. " * 40 + "</p>"


def test_the_contents_name_the_page_on_which_a_chapter_begins(tmp_path, monkeypatch):
    monkeypatch.setenv("WALLCLOCK_CHROMIUM", chromium())
    guides = []
    for slug, length in (("ring", 30), ("tree", 2), ("last", 1)):
        folder = tmp_path / "guides" / slug
        folder.mkdir(parents=True)
        text = f"<article><h1>{slug}</h1>{LONG * length}</article>"
        folder.joinpath("index.html").write_text(text, "utf-8")
        guides.append(SimpleNamespace(slug=slug, title=slug, url=f"guides/{slug}/"))
    path = SimpleNamespace(letter="B", name="Bytes", guides=tuple(guides))
    made = []
    document = book.book_html
    monkeypatch.setattr(book, "book_html", lambda *given: made.append(document(*given)) or made[-1])
    pdf = book.print_book(path, tmp_path, Project(name="A Site", engine="engine"))
    found = book.pages_of_links(pdf, ["ring", "tree", "last"])
    assert found["ring"] == 3
    assert found["tree"] > 5
    assert found["last"] == found["tree"] + 1
    shown = re.findall(r'<span class="page">(\d+)</span>', made[-1])
    assert [int(page) for page in shown] == list(found.values())
