"""Formulas and code are looked for only where a text has a mark of theirs."""

import re

import pytest
from markdown import Markdown

from builder.markdown.article_html import PatternGuardExtension, _GuardedPattern


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


def made():
    return Markdown(
        extensions=["pymdownx.arithmatex", PatternGuardExtension()],
        extension_configs={"pymdownx.arithmatex": {"generic": True}},
    )


def test_formulas_are_held_back_by_dollar_and_backslash_and_code_by_its_tick():
    patterns = made().inlinePatterns
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
    assert made().convert(text) == html
