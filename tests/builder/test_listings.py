"""Listings: a keyboard reaches them, and those with long lines are as wide as a figure."""

import pytest

from builder.listings import ROOM, dressed

LISTING = '<div class="language-python highlight"><pre><span></span><code>{}</code></pre></div>'


@pytest.mark.parametrize(("length", "wide"), [(ROOM, False), (ROOM + 1, True)])
def test_a_listing_with_a_long_line_is_wide(length: int, wide: bool) -> None:
    line = '<span class="k">x</span>' + "&lt;" + "y" * (length - 2)
    assert ("highlight wide" in dressed(LISTING.format(f"a\n{line}\nb\n"))) == wide


def test_every_listing_is_reached_by_the_keyboard() -> None:
    html = dressed(LISTING.format("a") + "<pre>b</pre>")
    assert html.count('<pre tabindex="0">') == html.count("<pre") == 2
