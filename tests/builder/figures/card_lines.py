"""The lines of text on a card, read from its drawing."""

import re
from html import unescape

from builder.figures.social_cards import Line


def lines_of(svg):
    """Return the lines of the title and the sentence on a card."""
    matches = re.findall(
        r'<text x="([\d.]+)" y="([\d.]+)" font-size="([\d.]+)" '
        r'font-family="([^"]+)" [^>]*>([^<]*)<',
        svg,
    )
    return [
        Line(text=unescape(text), x=float(x), y=float(y), size=float(size), family=family)
        for x, y, size, family, text in matches
    ]
