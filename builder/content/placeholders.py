"""Marks: what stands in rendered prose for things known only when all articles are rendered.

A mark is `⟦kind:argument⟧`. The page replaces page, title and image marks by URLs and titles, and
math marks by MathML.
"""

import re
from collections.abc import Callable
from html import escape, unescape

_PLACEHOLDER = re.compile(r"⟦(page|title|image|math):([^⟦⟧]*)⟧")


def page_placeholder(target: str) -> str:
    """Return the mark for the URL of a link to an article or anchor."""
    return f"⟦page:{target}⟧"


def title_placeholder(target: str) -> str:
    """Return the mark for the title of what a link leads to."""
    return f"⟦title:{target}⟧"


def image_placeholder(source: str) -> str:
    """Return the mark for the URL of an image."""
    return f"⟦image:{source}⟧"


def math_placeholder(name: str) -> str:
    """Return the mark for a typeset formula."""
    return f"⟦math:{name}⟧"


def fill_placeholders(html: str, replacements: dict[str, Callable[[str], str]]) -> str:
    """Return the HTML with every mark replaced by what `answers[kind]` returns for its argument.

    Math comes as HTML; everything else as text, which is escaped here.
    """

    def replacement(match: re.Match[str]) -> str:
        value = replacements[match[1]](unescape(match[2]))
        return value if match[1] == "math" else escape(value)

    return _PLACEHOLDER.sub(replacement, html)
