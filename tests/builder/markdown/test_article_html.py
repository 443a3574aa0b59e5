"""An article's Markdown becomes its prose: HTML with marks, and all that the page needs for it."""

import re
from dataclasses import replace

import pytest
from markdown import Markdown

from builder.content import library
from builder.content.article import Article
from builder.core.problem import Problem
from builder.markdown import article_html
from builder.markdown.article_html import (
    Heading,
    PatternGuardExtension,
    _GuardedPattern,
)
from builder.markdown.render_state import RenderContext

REFERENCES = """
[ring]
authors = ["A. Ring"]
url = "https://a.org"
year = 2020
title = "Rings"

[tree]
authors = ["B. Tree"]
url = "https://b.org"
year = 2021
title = "Trees"
"""
GLOSSARY = """
[bus]
text = "Of bits."

[rank]
text = "Of a group."
"""
NOTHING = article_html.ArticleHtml(html="")


def around(expanded=str):
    shelf = library.parse_library(REFERENCES, GLOSSARY)[0]
    return RenderContext(library=shelf, load=None, macros=None, blocks=None, expand=expanded)


def article(body):
    where = {"source": "a.md", "slug": "a", "url": "a/", "kind": "page"}
    return Article(**where, title="T", summary="S", text="", body=body)


def made(body, **given):
    return article_html.render(article(body), around(**given))


def refused(message, line=1):
    return replace(NOTHING, problems=(Problem("a.md", line, message),))


def test_an_empty_article_has_nothing():
    assert made("") == NOTHING


def test_headings_of_two_levels_are_in_the_contents_and_all_can_be_linked_to():
    found = made("## One\n\n### Two\n\n#### Three\n\n## *Four* & more\n\n### Five")
    assert found.headings == (
        Heading(level=2, id="one", html="One"),
        Heading(level=3, id="two", html="Two"),
        Heading(level=2, id="four-more", html="Four &amp; more"),
        Heading(level=3, id="five", html="Five"),
    )
    assert list(found.anchors.items()) == [
        ("one", "One"),
        ("two", "Two"),
        ("three", "Three"),
        ("four-more", "Four & more"),
        ("five", "Five"),
    ]
    assert found.problems == ()


def test_a_title_in_the_text_can_be_linked_to_and_is_not_in_the_contents():
    found = made("# One")
    assert (found.headings, found.anchors) == ((), {"one": "One"})
    assert [one.line for one in found.problems] == [1]


def test_a_heading_links_to_itself():
    assert made("## One").html == (
        '<h2 id="one">One<a class="headerlink" href="#one" title="Link to this section">#</a></h2>'
    )


def test_what_other_pages_decide_is_marked_and_listed_as_written():
    found = made("[b](c#d) [e](https://f.org) ![g](h.svg)\n\n[](i)")
    assert found.html == (
        '<p><a href="⟦page=c#d⟧">b</a> <a href="https://f.org">e</a> '
        '<img alt="g" src="⟦image=h.svg⟧" /></p>\n<p><a href="⟦page=i⟧">⟦title=i⟧</a></p>'
    )
    assert (found.links, found.images) == (("c#d", "i"), ("h.svg",))


def test_formulas_are_listed_with_whether_they_stand_alone():
    found = made("$x$ and\n\n$$\ny\n$$\n\nand $x$")
    assert found.formulas == (("x", False), ("y", True))
    assert found.html.count("⟦math=") == 3


def test_citations_are_listed_in_the_order_of_their_first_use():
    found = made("[@tree] [@ring; @tree]")
    assert found.cites == ("tree", "ring")
    assert made("[@none]").problems == (
        Problem("a.md", 1, "citation '@none' is not in content/references.toml"),
    )


def test_terms_are_listed_in_the_order_of_their_first_use():
    assert made("??rank?? ??a bus|bus?? ??Rank??").terms == ("rank", "bus")


def test_a_listing_is_dressed_and_its_language_named():
    assert made("```python\nx = 1\n```").html == (
        '<div class="language-python highlight"><pre tabindex="0"><span></span><code>'
        'x = <span class="mi">1</span>\n</code></pre></div>'
    )


def test_a_number_stays_on_the_line_of_its_unit():
    assert made("a 4 GB").html == "<p>a 4\xa0GB</p>"


def test_a_footnote_leads_back_by_an_arrow():
    assert made("a[^1]\n\n[^1]: b").html.endswith(
        ' title="Jump back to footnote 1 in the text">↩</a></p>\n</li>\n</ol>\n</div>'
    )


def test_tabs_stand_beside_their_labels():
    assert made("/// tab | A\n///").html.startswith(
        '<div class="tabbed-set tabbed-alternate" data-tabs="1:1">'
    )


def test_a_body_is_rendered_as_it_is_expanded():
    assert made("a", expanded=lambda body: f"**{body}**").html == "<p><strong>a</strong></p>"


def test_what_is_wrong_is_said_with_the_blocks_that_there_are_in_the_order_of_letters():
    (problem,) = made("a\n\n/// zero\n///").problems
    said, _, blocks = problem.message.partition("; there are ")
    assert (problem.line, said) == (3, "there is no block 'zero'")
    assert blocks.split(", ") == sorted(blocks.split(", "))
    assert {"details", "figure-caption", "note", "predict", "tab"} <= set(blocks.split(", "))


def test_an_article_that_nests_too_deeply_is_not_read():
    assert made("a\n" + "[" * 51) == refused("more than 50 '[' are open at once", line=2)


def deep(body):
    if body == "deep":
        raise RecursionError
    return body


def test_an_article_that_python_cannot_follow_is_refused():
    message = "is nested too deeply to be read: lists, quotations or blocks in one another"
    assert made("deep", expanded=deep) == refused(message)


@pytest.fixture
def readied(monkeypatch):
    """How often Markdown was made ready: one more entry for each time."""
    ready, times = article_html._markdown_parser, []
    monkeypatch.setattr(
        article_html, "_markdown_parser", lambda *given: times.append(1) or ready(*given)
    )
    return times


def test_articles_are_read_one_after_the_other_as_if_each_were_alone(readied):
    reader = article_html.MarkdownRenderer(around())
    bodies = ["## A\n\n$x$ [@ring] [b](c)[^1]\n\n[^1]: d", "[" * 51, "## A\n\n[@tree]", "e"]
    found = [reader.render(article(body)) for body in bodies]
    assert len(readied) == 1
    assert found == [made(body) for body in bodies]
    assert found[2].cites == ("tree",)


def test_what_was_left_half_read_is_not_used_again(readied):
    reader = article_html.MarkdownRenderer(around(expanded=deep))
    found = [reader.render(article(body)).html for body in ("a", "deep", "b", "c")]
    assert found == ["<p>a</p>", "", "<p>b</p>", "<p>c</p>"]
    assert len(readied) == 2


class Counting:
    """A pattern that tells how often it was asked."""

    def __init__(self):
        self.asked = []

    def finditer(self, text, at):
        self.asked.append((text, at))
        return re.compile("x").finditer(text, at)


@pytest.mark.parametrize("text", ["a $x", "a \\x", "$\\x"])
def test_a_text_with_any_of_the_marks_is_searched_from_the_place_on(text):
    pattern = Counting()
    found = [match.start() for match in _GuardedPattern(pattern, "$\\").finditer(text, 1)]
    assert found == [text.index("x")]
    assert pattern.asked == [(text, 1)]


@pytest.mark.parametrize("text", ["", "a x"])
def test_a_text_without_a_mark_is_not_searched(text):
    pattern = Counting()
    assert list(_GuardedPattern(pattern, "$\\").finditer(text, 0)) == []
    assert pattern.asked == []


def guarded_markdown():
    return Markdown(
        extensions=["pymdownx.arithmatex", PatternGuardExtension()],
        extension_configs={"pymdownx.arithmatex": {"generic": True}},
    )


def test_formulas_are_held_back_by_dollar_and_backslash_and_code_by_its_tick():
    patterns = guarded_markdown().inlinePatterns
    assert patterns["arithmatex-inline"].compiled_re.marks == "$\\"
    assert patterns["backtick"].compiled_re.marks == "`"
    assert [isinstance(one.compiled_re, _GuardedPattern) for one in patterns].count(True) == 2


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a $b$ c", '<p>a <span class="arithmatex">\\(b\\)</span> c</p>'),
        ("a \\(b\\) c", '<p>a <span class="arithmatex">\\(b\\)</span> c</p>'),
        ("a `b` c", "<p>a <code>b</code> c</p>"),
        ("`a` and `b`", "<p><code>a</code> and <code>b</code></p>"),
        ("a b c", "<p>a b c</p>"),
    ],
)
def test_a_text_is_rendered_as_without_it(text, html):
    assert guarded_markdown().convert(text) == html
