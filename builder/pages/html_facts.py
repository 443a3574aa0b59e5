"""Facts of finished pages, and checks of links, anchors and ids as a browser resolves them."""

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from builder.core import html_tree
from builder.core.html_tree import Comment, Element
from builder.markdown.allowed_html import comment_ends_early
from builder.markdown.extensions.links import is_internal

_ID_REFERENCES = (
    "for",
    "aria-describedby",
    "aria-labelledby",
    "aria-controls",
    "popovertarget",
)

_FORBIDDEN_TAGS = ("iframe", "frame", "frameset", "object", "embed", "applet", "style", "base")
_HEAD_TAGS = ("meta", "link")
_URL_ATTRIBUTES = ("href", "src", "data-figures", "data-bokeh", "data-worker", "data-runtime")
_FORBIDDEN_ATTRIBUTES = ("ping", "srcdoc", "formaction", "background")


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlFacts:
    """Facts of a page: ids, URLs, referenced ids, images without alt text.

    `forbidden` lists violations of the page's policy: (text, message).
    """

    ids: tuple[str, ...]
    urls: tuple[str, ...]
    referenced_ids: tuple[str, ...]
    images_without_alt: tuple[str, ...]
    forbidden: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _TagFacts:
    """The facts of a start tag, as `HtmlFacts` has them for a page."""

    ids: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    referenced_ids: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    forbidden: tuple[tuple[str, str], ...] = ()


_NO_FACTS = _TagFacts()


_KNOWN_TAGS: dict[str, _TagFacts | None] = {}  # start tag -> its facts, None without any
_MAX_KNOWN_TAGS = 1 << 16


def parse_facts(html: str) -> HtmlFacts:
    """Return the facts of a page that is not parsed yet."""
    return page_facts(html_tree.parse(html))


def page_facts(page: Element) -> HtmlFacts:
    """Return the facts of a page."""
    in_body = False
    facts: list[_TagFacts] = []
    forbidden = [*_forbidden_comments(page)]
    for element in page.elements():
        in_body = in_body or element.tag == "body"
        if tag_facts := _element_facts(element):
            facts.append(tag_facts)
            forbidden += tag_facts.forbidden
        if in_body and element.tag in _HEAD_TAGS:
            forbidden.append((f"<{element.tag}", f"the page has a <{element.tag}> in its text"))
        forbidden += _forbidden_comments(element)
    return HtmlFacts(
        ids=tuple(name for tag in facts for name in tag.ids),
        urls=tuple(dict.fromkeys(url for tag in facts for url in tag.urls)),
        referenced_ids=tuple(dict.fromkeys(name for tag in facts for name in tag.referenced_ids)),
        images_without_alt=tuple(source for tag in facts for source in tag.silent),
        forbidden=tuple(dict.fromkeys(forbidden)),
    )


def _element_facts(element: Element) -> _TagFacts | None:
    """Return the facts of a start tag, known ones from memory: most occur on every page."""
    source = element.start_tag()
    if source in _KNOWN_TAGS:
        return _KNOWN_TAGS[source]
    facts: _TagFacts | None = _tag_facts(
        element.tag, {name: value or "" for name, value in element.attributes.items()}
    )
    if facts == _NO_FACTS:
        facts = None
    if len(_KNOWN_TAGS) < _MAX_KNOWN_TAGS:
        _KNOWN_TAGS[source] = facts
    return facts


def _forbidden_comments(element: Element) -> Iterator[tuple[str, str]]:
    for node in element.children:
        if not isinstance(node, Comment):
            continue
        text = node.removeprefix("<!--").removesuffix("-->")
        if node.startswith("<!--") and comment_ends_early(text):
            yield "<!--", f"the comment {node} ends earlier for a browser"
        if node.startswith("<!["):
            yield "<![", f"the page has {node}"


def _tag_facts(name: str, attributes: Mapping[str, str]) -> _TagFacts:
    canonical = name == "link" and attributes.get("rel") == "canonical"
    silent = name == "img" and not attributes.get("alt", "").strip()
    return _TagFacts(
        ids=tuple(attributes[attribute] for attribute in ("id",) if attribute in attributes),
        urls=()
        if canonical
        else tuple(
            attributes[attribute] for attribute in _URL_ATTRIBUTES if attribute in attributes
        ),
        referenced_ids=tuple(
            key for attribute in _ID_REFERENCES for key in attributes.get(attribute, "").split()
        ),
        silent=(attributes.get("src", ""),) if silent else (),
        forbidden=tuple(_forbidden(name, attributes)),
    )


def _forbidden(tag: str, attributes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    inline = (
        tag == "script" and "src" not in attributes and "json" not in attributes.get("type", "")
    )
    if inline or tag in _FORBIDDEN_TAGS:
        yield f"<{tag}", f"the page has a <{tag}> of its own"
    for name, value in attributes.items():
        if name.startswith("on"):
            yield (
                name,
                f"the attribute '{name}' is a script, which the page's policy refuses",
            )
        if name in _FORBIDDEN_ATTRIBUTES:
            yield name, f"the attribute '{name}' is not allowed on a page"
        if name in ("src", "srcset") and not is_internal(value):
            yield (
                value,
                f"'{value}' is not a file of the site; a page loads nothing else",
            )
        if name == "href" and tag == "a" and value.startswith(("data:", "blob:")):
            yield value, f"external link '{value}' has to begin with https://"


# Checks of links, anchors and ids between pages.

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
