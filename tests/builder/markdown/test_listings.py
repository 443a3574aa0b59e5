"""Listings: a keyboard reaches them, and those with long lines are as wide as a figure."""

import re
from pathlib import Path

import pytest

from builder.markdown.article_html import LINE_LENGTH, STYLED_TOKENS, style_listings

ROOT = Path(__file__).resolve().parents[3]

LISTING = '<div class="language-python highlight"><pre><span></span><code>{}</code></pre></div>'


@pytest.mark.parametrize(("length", "wide"), [(LINE_LENGTH, False), (LINE_LENGTH + 1, True)])
def test_a_listing_with_a_long_line_is_wide(length: int, wide: bool) -> None:
    line = '<span class="k">x</span>' + "&lt;" + "y" * (length - 2)
    assert ("highlight wide" in style_listings(LISTING.format(f"a\n{line}\nb\n"))) == wide


def test_every_listing_is_reached_by_the_keyboard() -> None:
    html = style_listings(LISTING.format("a") + "<pre>b</pre>")
    assert html.count('<pre tabindex="0">') == html.count("<pre") == 2


def test_only_tokens_that_the_theme_sets_apart_are_marked() -> None:
    sheet = (ROOT / "theme" / "styles" / "58-prose.css").read_text("utf-8")
    groups = re.findall(r"\.highlight :is\(([^)]+)\)", sheet)
    assert {name for group in groups for name in re.findall(r"\.(\w+)", group)} == STYLED_TOKENS
    marked = '<span class="k">for</span> <span class="n">x</span>'
    assert '<span class="k">for</span> x' in style_listings(LISTING.format(marked))
