"""Checks links, anchors and ids of finished pages as a browser resolves them."""

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from builder.pages.html_facts import HtmlFacts

_EXTERNAL_PREFIXES = ("https://", "data:", "blob:", "mailto:", "?", "/_")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLinks:
    """The link targets of a page.

    Attributes:
        is_valid: whether the page has no problem that can be seen without other pages.
        files: link targets.
        anchors: (file, anchor) of links to anchors of other pages.
        ids: of the page itself.
    """

    is_valid: bool
    files: frozenset[str]
    anchors: tuple[tuple[str, str], ...]
    ids: frozenset[str]


def link_problems(
    pages: Mapping[str, HtmlFacts],
    others: frozenset[str],
    known: Mapping[str, PageLinks] | None = None,
) -> Iterator[tuple[str, str, str]]:
    """Yield (page, text, message) of each broken link, anchor or id.

    Args:
        pages: path in the output -> facts of the page.
        others: paths of the output's other files.
        known: path in the output -> links of the page, computed if missing.
    """
    files, links = (
        others.union(pages),
        known or {p: page_links(p, facts_of_page) for p, facts_of_page in pages.items()},
    )
    for path, facts in pages.items():
        if _has_valid_links(links[path], links, files):
            continue
        yield from ((path, about, message) for about, message in _page_problems(facts))
        for url in facts.urls:
            message = _url_problem(url, path, pages, others)
            if message:
                yield path, url, message


def _has_valid_links(
    links: PageLinks, links_of_pages: Mapping[str, PageLinks], files: frozenset[str]
) -> bool:
    return (
        links.is_valid
        and links.files <= files
        and all(
            anchor in links_of_pages[target].ids
            for target, anchor in links.anchors
            if target in links_of_pages
        )
    )


def page_links(path: str, facts: HtmlFacts) -> PageLinks:
    """Return the link targets of a page."""
    internal = [url for url in facts.urls if not url.startswith(_EXTERNAL_PREFIXES)]
    ids = frozenset(facts.ids)
    targets = [_link_target(url, path) for url in internal]
    own_anchors_exist = all(
        anchor in ids for target, anchor in targets if anchor and target == path
    )
    has_scheme = any(":" in url.partition("#")[0].partition("?")[0] for url in internal)
    return PageLinks(
        is_valid=own_anchors_exist and not has_scheme and not any(_page_problems(facts)),
        files=frozenset(target for target, _ in targets),
        anchors=tuple((target, anchor) for target, anchor in targets if anchor and target != path),
        ids=ids,
    )


def _page_problems(facts: HtmlFacts) -> Iterator[tuple[str, str]]:
    for name, count in Counter(facts.ids).items():
        if count > 1:
            yield name, f"the id '{name}' stands {count} times on the page"
    ids = frozenset(facts.ids)
    for name in facts.referenced_ids:
        if name not in ids:
            yield name, f"'{name}' is referred to by its id, but there is none"
    yield from facts.forbidden
    for source in facts.images_without_alt:
        yield source, f"image '{source}' has no alt text"


def _url_problem(
    url: str, path: str, pages: Mapping[str, HtmlFacts], others: frozenset[str]
) -> str:
    if url.startswith(_EXTERNAL_PREFIXES):
        return ""
    if ":" in url.partition("#")[0].partition("?")[0]:
        return f"external link '{url}' has to begin with https://"
    target, anchor = _link_target(url, path)
    if target not in pages and target not in others:
        return f"link to '{url}': there is no {target} in the output"
    if anchor and target in pages and anchor not in pages[target].ids:
        name = url.partition("#")[2]
        generated = ("_", "receipt-", "ref-", "fn")
        known = ", ".join(n for n in pages[target].ids if not n.startswith(generated)) or "none"
        return f"link to '{url}': {target} has no anchor '{name}'; there are {known}"
    return ""


def _link_target(url: str, path: str) -> tuple[str, str]:
    """Return the file and the anchor that a URL on the page at a path leads to."""
    address, _, anchor = url.partition("#")
    address = unquote(address.partition("?")[0])
    if not address:
        return path, unquote(anchor)
    home = "../" * path.count("/")
    # Most links start with the path to the home page, which only has to be cut off.
    path_in_site = address.removeprefix(home) if address.startswith(home) else "/"
    needs_normalizing = (
        path_in_site[:1] == "/"
        or path_in_site[-1:] == "."
        or "./" in path_in_site
        or "//" in path_in_site
    )
    if needs_normalizing:
        return _normalized_path(address, path), unquote(anchor)
    inner = "" if path_in_site[-1:] not in ("", "/") else "index.html"
    return path_in_site + inner, unquote(anchor)


def _normalized_path(address: str, path: str) -> str:
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), address))
    if address.endswith("/") or target == ".":
        target = posixpath.normpath(posixpath.join(target, "index.html"))
    return target
