"""Listings as they stand on a page: reached by the keyboard, and wide if their lines are long."""

import re
from html import unescape

ROOM = 82  # characters of a listing's font in the column of the text (theme/styles/00-base.css)
# Kinds of tokens that theme/styles/58-prose.css sets apart; of all others no mark is sent.
VOICES = {"c", "c1", "cm", "ch", "cp", "k", "kn", "kd", "kc", "nb", "ow"}
VOICES |= {"s", "s1", "s2", "sd", "mi", "mf", "m"}
_LISTING = re.compile(r'(<div class="language-[\w-]+ highlight)("><pre>.*?</pre>)', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_TOKEN = re.compile(r'<span class="(\w+)">([^<]*)</span>')


def dressed(html: str) -> str:
    """Return the page's HTML with its listings dressed.

    A listing wider than its place is scrolled, by keyboard, too. One with a line that the column of
    the text does not hold takes the width of a figure, where the window has it.
    """
    return _LISTING.sub(_placed, html).replace("<pre>", '<pre tabindex="0">')


def _plain(token: re.Match[str]) -> str:
    return token[0] if token[1] in VOICES else token[2]


def _placed(listing: re.Match[str]) -> str:
    division, text = listing.groups()
    longest = max(map(len, unescape(_TAG.sub("", text)[2:]).split("\n")))
    said = _TOKEN.sub(_plain, text)
    return f"{division}{' wide' if longest > ROOM else ''}{said}"
