"""Link targets: every article with its URL, title and anchors."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass

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
