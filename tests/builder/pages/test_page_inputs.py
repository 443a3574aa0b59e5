"""What is made while an author writes is, byte by byte, what a whole build would make."""

from builder import pipeline
from builder.core import build_cache
from builder.pages import all_pages
from tests.builder.conftest import SERVICES, silent

NEW = """+++
title = "Third"
question = "What else?"
summary = "More."
path = "A Basics"
order = 3
updated = 2026-02-02
minutes = 1
+++

![A dot.](../images/dot.svg) and [](second.md#the-end).
"""
SECOND, FIRST = "content/guides/second.md", "content/guides/first.md"


class Served:
    """Builds of one project whose theme and code nobody changes, as `serve` makes them."""

    def __init__(self, site):
        self.site, self.places, self.memory = site, site.folders, build_cache.BuildCache()

    def built(self, **given):
        self.memory = self.memory.for_next_build()
        return self.build(self.places, self.memory, **given)

    def anew(self, **given):
        return self.build(self.site.folders, build_cache.BuildCache(), **given)

    def build(self, places, memory, **given):
        return pipeline.build(places, pipeline.Options(**given), SERVICES, memory, silent)


def edits(site):
    """Make one edit after another; each is said."""
    content = site.root / "content"
    site.append(SECOND, "More words, and $c^2$.")
    yield "a sentence"
    site.append(SECOND, "## One more\n\nText.")
    yield "a section"
    site.edit(SECOND, "## The end", "## The very end {: #the-end }")
    yield "a heading that another article shows"
    site.edit(SECOND, 'title = "Second"', 'title = "Other"')
    yield "a title"
    site.edit(FIRST, "T = \\frac{S}{B}", "T = \\frac{S}{2B}")
    yield "a formula"
    site.edit("content/glossary.toml", "What a link carries.", "What a link bears.")
    yield "a term"
    (content / "guides/third.md").write_text(NEW)
    yield "an article"
    svg = (content / "images/dot.svg").read_text().replace("circle", "ellipse", 1)
    (content / "images/dot.svg").write_text(svg.replace("</circle>", "</ellipse>"))
    yield "a picture"
    site.edit(FIRST, "(../images/dot.svg)", "(second.md)")
    yield "a picture that one page shows no longer"
    site.edit(FIRST, "(second.md#the-end)", "(second.md#nowhere)")
    yield "a link to nothing"
    site.edit(FIRST, "(second.md#nowhere)", "(second.md)")
    yield "what is mended"
    site.edit("content/guides/third.md", "order = 3", "order = 0")
    yield "an order"
    (content / "guides/third.md").unlink()
    yield "an article that goes"


def test_what_stands_after_an_edit_is_what_a_whole_build_makes(live):
    served = Served(live)
    served.built(reload="/_reload.js")
    for said in edits(live):
        found, whole = served.built(reload="/_reload.js"), served.anew(reload="/_reload.js")
        assert found.problems == whole.problems, said
        assert found.output == whole.output, said


def test_other_options_leave_no_page_as_it_was(live):
    served = Served(live)
    for given in ({}, {"repository": "https://x.test"}, {"base_url": "https://y.test/"}, {}):
        assert served.built(**given).output == served.anew(**given).output


def test_a_page_that_stands_is_the_same_object(live):
    served = Served(live)
    before = served.built().output
    live.append(SECOND, "More words.")
    after = served.built().output
    assert after["guides/second/index.html"] != before["guides/second/index.html"]
    assert after["guides/first/index.html"] is before["guides/first/index.html"]


def test_what_a_standing_page_was_made_of_is_kept(live):
    served = Served(live)
    served.built()
    kept = set(served.memory.entries())
    for _ in range(3):
        served.built()
    assert set(served.memory.entries()) == kept


def test_a_style_fills_addresses_and_makes_no_page_again(live, monkeypatch):
    served = Served(live)
    before = served.built().output
    drafted = []
    real = all_pages.make_draft
    monkeypatch.setattr(
        all_pages, "make_draft", lambda one, *rest: drafted.append(one) or real(one, *rest)
    )
    (sheet,) = list((live.root / "theme/styles").glob("*.css"))[:1]
    sheet.write_text(sheet.read_text() + ".own { color: inherit }\n")
    served.places = live.folders
    after = served.built().output
    assert [one.source for one in drafted if one.source in (FIRST, SECOND)] == []
    assert after["guides/first/index.html"] != before["guides/first/index.html"]
    assert after == served.anew().output
