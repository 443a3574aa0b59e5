"""Line breaks in page text: units stay with their numbers, long names may wrap."""

import re

from engine.core.numbers import Display
from engine.core.text import Text, render_text

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
_KEPT_SPAN = r'<span class="kept">\g<0></span>'
_LONG = re.compile(r"(?<![\w./-])[\w./-]{15,}")
# A counter such as LinkErrorRecoveryCounter has no sign to break behind.
_BREAK_POINTS = re.compile(r"(?<=\w)[._/](?=[A-Za-z])|(?<=[A-Za-z][a-z]{2})(?=[A-Z][a-z]{2})")


def page_text(text: Text, display: Display) -> str:
    """Return the rendered sentence with non-breaking spaces."""
    return bind_units(render_text(text, display, space=UNBROKEN))


def bind_units(text: str) -> str:
    """Return text with non-breaking spaces before units and around signs."""
    return _BOUND.sub(UNBROKEN, text)


def keep_names_whole(html: str) -> str:
    """Return HTML text whose names with signs are kept on one line."""
    return _NAME.sub(_KEPT_SPAN, html) if _SIGN.search(html) else html


def break_long_names(html: str) -> str:
    """Return HTML text whose long names and paths may wrap.

    They break behind a dot, an underscore or a slash, before an inner capital, and nowhere else
    inside.
    """
    return _LONG.sub(lambda name: _BREAK_POINTS.sub(r"\g<0><wbr>", name[0]), html)
