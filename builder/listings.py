"""Listings as they stand on a page: reached by the keyboard, and wide if their lines are long."""

import re
from html import unescape

ROOM = 82  # characters of a listing's font in the column of the text (theme/styles/00-base.css)
_LISTING = re.compile(r'(<div class="language-[\w-]+ highlight)("><pre>.*?</pre>)', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


def dressed(html: str) -> str:
    """Return the page's HTML with its listings dressed.

    A listing wider than its place is scrolled, by keyboard, too. One with a line that the column of
    the text does not hold takes the width of a figure, where the window has it.
    """
    return _LISTING.sub(_placed, html).replace("<pre>", '<pre tabindex="0">')


def _placed(listing: re.Match[str]) -> str:
    division, text = listing.groups()
    longest = max(map(len, unescape(_TAG.sub("", text)[2:]).split("\n")))
    return f"{division}{' wide' if longest > ROOM else ''}{text}"
