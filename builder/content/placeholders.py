"""Marks: what stands in rendered prose for things known only when all articles are rendered.

A mark is `⟦kind:argument⟧`. The page replaces page, title and image marks by URLs and titles, and
math marks by MathML.
"""

import re
from collections.abc import Callable
from html import escape, unescape

_MARK = re.compile(r"⟦(page|title|image|math):([^⟦⟧]*)⟧")


def page_mark(target: str) -> str:
    """Return the mark for the URL of a link to an article or anchor."""
    return f"⟦page:{target}⟧"


def title_mark(target: str) -> str:
    """Return the mark for the title of what a link leads to."""
    return f"⟦title:{target}⟧"


def image_mark(source: str) -> str:
    """Return the mark for the URL of an image."""
    return f"⟦image:{source}⟧"


def math_mark(name: str) -> str:
    """Return the mark for a typeset formula."""
    return f"⟦math:{name}⟧"


def fill(html: str, answers: dict[str, Callable[[str], str]]) -> str:
    """Return the HTML with every mark replaced by what `answers[kind]` returns for its argument.

    Math comes as HTML; everything else as text, which is escaped here.
    """

    def one(mark: re.Match[str]) -> str:
        found = answers[mark[1]](unescape(mark[2]))
        return found if mark[1] == "math" else escape(found)

    return _MARK.sub(one, html)
