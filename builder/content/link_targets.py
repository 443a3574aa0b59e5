"""Link targets: articles with URL, title and anchors; and the placeholders for them in prose."""

import json
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape, unescape

from builder.core.problem import ContentError


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTarget:
    """The target of a link; `anchors` maps id -> title, None for an unreadable article."""

    url: str
    title: str
    anchors: Mapping[str, str] | None


LinkTargets = Mapping[str, LinkTarget]  # source -> target


def resolve_link(link: str, source: str, index: LinkTargets) -> tuple[LinkTarget, str]:
    """Return the target of a link in the article `source`, and its anchor or "".

    Raises:
        ContentError: there is no such article.
    """
    path, _, anchor = link.partition("#")
    if not path:
        return index[source], anchor
    target_source = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if not path.endswith(".md"):
        raise ContentError(f"link to '{link}': name the article's file, such as other-guide.md")
    if target_source not in index:
        raise ContentError(f"link to '{link}': there is no article {target_source}")
    return index[target_source], anchor


def link_title(link: str, source: str, index: LinkTargets) -> str:
    """Return the text for a link without text: the title of its target.

    Raises:
        ContentError: the anchor has no title that could be taken.
    """
    target, anchor = resolve_link(link, source, index)
    if not anchor or target.anchors is None:
        return target.title
    if anchor not in target.anchors:
        anchors = ", ".join(target.anchors) or "none"
        raise ContentError(f"link to '{link}': no title is at '{anchor}'; there are {anchors}")
    return target.anchors[anchor]


# Placeholders in HTML for what is known only later: `⟦kind=argument⟧`.
#
# In an article: page, title and image (URLs and titles), math, equation and symbol (MathML), list
# (content of all pages). On a finished page: asset (URLs with hashes).

_PLACEHOLDER = re.compile(r"⟦(\w+)=([^⟦⟧]*)⟧")
_TEXT_KINDS = ("page", "title", "image")


def page_placeholder(target: str) -> str:
    """Return the placeholder for the URL of a link to an article or anchor."""
    return f"⟦page={target}⟧"


def title_placeholder(target: str) -> str:
    """Return the placeholder for the title of a link's target."""
    return f"⟦title={target}⟧"


def image_placeholder(source: str) -> str:
    """Return the placeholder for the URL of an image."""
    return f"⟦image={source}⟧"


def math_placeholder(name: str) -> str:
    """Return the placeholder for a typeset formula."""
    return f"⟦math={name}⟧"


def equation_placeholder(name: str, numbers: Mapping[str, str]) -> str:
    """Return the placeholder for a typeset equation with the texts of its numbers."""
    return f"⟦equation={name} {escape(json.dumps(numbers), quote=False)}⟧"


def symbol_placeholder(name: str) -> str:
    """Return the placeholder for a typeset symbol of an equation, "equation.key"."""
    return f"⟦symbol={name}⟧"


def without_placeholders(text: str) -> str:
    """Return text without placeholders."""
    return _PLACEHOLDER.sub("", text)


def fill_placeholders(html: str, replacements: Mapping[str, Callable[[str], str]]) -> str:
    """Return the HTML with placeholders replaced by `replacements[kind](argument)`.

    URLs and titles come as text, which is escaped here; everything else comes as HTML. Placeholders
    of other kinds stay.
    """
    if "⟦" not in html:
        return html

    def replacement(match: re.Match[str]) -> str:
        if match[1] not in replacements:
            return match[0]
        value = replacements[match[1]](unescape(match[2]))
        return escape(value) if match[1] in _TEXT_KINDS else value

    return _PLACEHOLDER.sub(replacement, html)
