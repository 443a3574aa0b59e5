"""Facts of a finished page that checks need: ids, URLs, references, forbidden tags."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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
