"""Placeholders in rendered prose for values known only after all articles are rendered.

A placeholder is `⟦kind:argument⟧`. The page replaces page, title and image placeholders by URLs and
titles, and math placeholders by MathML.
"""

import re
from collections.abc import Callable
from html import escape, unescape

_PLACEHOLDER = re.compile(r"⟦(page|title|image|math):([^⟦⟧]*)⟧")


def page_placeholder(target: str) -> str:
    """Return the placeholder for the URL of a link to an article or anchor."""
    return f"⟦page:{target}⟧"


def title_placeholder(target: str) -> str:
    """Return the placeholder for the title of a link's target."""
    return f"⟦title:{target}⟧"


def image_placeholder(source: str) -> str:
    """Return the placeholder for the URL of an image."""
    return f"⟦image:{source}⟧"


def math_placeholder(name: str) -> str:
    """Return the placeholder for a typeset formula."""
    return f"⟦math:{name}⟧"


def fill_placeholders(html: str, replacements: dict[str, Callable[[str], str]]) -> str:
    """Return the HTML with placeholders replaced by `replacements[kind](argument)`.

    Math comes as HTML; everything else as text, which is escaped here.
    """

    def replacement(match: re.Match[str]) -> str:
        value = replacements[match[1]](unescape(match[2]))
        return value if match[1] == "math" else escape(value)

    return _PLACEHOLDER.sub(replacement, html)
