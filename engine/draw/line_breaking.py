"""Where a line of what is told may end: not before a unit, and inside of long names alone."""

import re

from engine.core.numbers import Display
from engine.core.text import Text, words

# In running text a number and its unit stay on one line.
UNBROKEN = "\N{NO-BREAK SPACE}"
_UNITS = (
    r"%|[nµm]?s|min|h|[kKMGTPE]?i?B(?:/s)?|[MGT]b/s|[GTPEZ]?FLOP(?:/s)?|[kM]?W"
    r"|tokens/s(?:/GPU)?|GPU h"
)
# The space before a unit or in one, and the one behind a sign, which would else end a line or be
# one. The one before a sign only behind a single letter or digit that begins, so that long formulas
# can wrap.
_BOUND = re.compile(
    rf" (?:(?<=\d )(?=(?:{_UNITS})(?![\w/]))|(?<=GPU )(?=h(?![\w/]))|(?=− \d\))|(?<=\s[=≈≤≥×→+−] )"
    r"|(?<=\b\w )(?<![=≈≤≥×→+−]\s\w )(?=[=≈≤≥→] ))"
)
# A name that a browser would cut at its sign, ZeRO++ or ZeRO-2, a date, a short option, or a rate,
# which Firefox cuts at its slash; and what shows soon that there may be one.
_NAME = re.compile(
    r"[A-Z]\w*(?:\+\+|-\d\b)|\b\d{4}-\d\d-\d\d\b|\b[\d.,]+\xa0[A-Za-z]+/s(?:/GPU)?\b"
    r"|(?<![\w-])--\w{1,12}(?![\w-])"
)
_SIGN = re.compile(r"[+-][+\d]|/s\b|--\w")
_KEPT = r'<span class="kept">\g<0></span>'
_LONG = re.compile(r"(?<![\w./-])[\w./-]{15,}")
# A counter such as LinkErrorRecoveryCounter has no sign to break behind.
_INSIDE = re.compile(r"(?<=\w)[._/](?=[A-Za-z])|(?<=[A-Za-z][a-z]{2})(?=[A-Z][a-z]{2})")


def told(text: Text, display: Display) -> str:
    """Return a sentence in the reader's units as it stands on a page."""
    return bound(words(text, display, space=UNBROKEN))


def bound(text: str) -> str:
    """Return text whose numbers stay with their units, and whose signs with what follows."""
    return _BOUND.sub(UNBROKEN, text)


def whole(html: str) -> str:
    """Return text of HTML, without tags, whose names that hold a sign stay whole."""
    return _NAME.sub(_KEPT, html) if _SIGN.search(html) else html


def breaking(html: str) -> str:
    """Return text of HTML, without tags, whose long names and paths may go on in the next line.

    They break behind a dot, an underscore or a slash, before an inner capital, and nowhere else
    inside.
    """
    return _LONG.sub(lambda name: _INSIDE.sub(r"\g<0><wbr>", name[0]), html)
