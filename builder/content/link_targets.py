"""What links can lead to: every article with its address, its title and its anchors."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass

from builder.core.problem import ContentError


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTarget:
    """An article as links see it; `anchors` are id -> title, None where it could not be read."""

    url: str
    title: str
    anchors: Mapping[str, str] | None


LinkTargets = Mapping[str, LinkTarget]  # source -> target


def resolve_link(link: str, source: str, index: LinkTargets) -> tuple[LinkTarget, str]:
    """Return what a link in the article `source` leads to, and its anchor or "".

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
    """Return the text of a link that has none of its own.

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
