"""Parses a finished page into the facts that checks need: ids, URLs, references, forbidden tags."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser

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
# A tag that all parsers read alike: lower case, quoted values without "<". `plaintext` is excluded,
# since no tag follows it.
_PLAIN_TAG = re.compile(
    r"""<(?:!doctype html|/[a-z][a-z0-9]*|(?!plaintext)[a-z][a-z0-9]*"""
    r"""(?:[ \n]+(?:[a-z][a-z0-9:-]*|viewBox|preserveAspectRatio)(?:="[^"<]*"|='[^'<]*')?)*"""
    r"""[ \n]*/?)>"""
)
# A tag with any fact: one of these names, or an attribute that begins with one of these.
_RELEVANT_TAG = re.compile(
    rf"<(?:img|script|body|{'|'.join((*_FORBIDDEN_TAGS, *_HEAD_TAGS))})\b"
    rf"|[ \n](?:id|on|{'|'.join((*_URL_ATTRIBUTES, *_ID_REFERENCES, *_FORBIDDEN_ATTRIBUTES))})"
)


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

    name: str
    ids: tuple[str, ...]
    urls: tuple[str, ...]
    referenced_ids: tuple[str, ...]
    silent: tuple[str, ...]
    forbidden: tuple[tuple[str, str], ...]


_KNOWN_TAGS: dict[str, _TagFacts] = {}  # text of a tag -> its facts
_MAX_KNOWN_TAGS = 1 << 16
# Elements whose content a parser reads as raw text.
_RAW_TEXT_TAGS = frozenset(
    (
        "script",
        "style",
        "textarea",
        "title",
        "xmp",
        "iframe",
        "noembed",
        "noframes",
        "noscript",
    )
)
_NESTED_TAG = re.compile(
    rf"<({'|'.join(sorted(_RAW_TEXT_TAGS))})\b[^<]*<(?!/\1>)"
)  # a tag within one


class _FactsParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.urls: list[str] = []
        self.referenced_ids: list[str] = []
        self.silent: list[str] = []
        self.forbidden: list[tuple[str, str]] = []
        self.in_body = False

    def updatepos(self, i: int, j: int) -> int:
        """Return the end position; line numbers are not needed."""
        return j

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        tag_facts = _tag_facts(tag, {name: value or "" for name, value in attrs})
        text = self.get_starttag_text()
        if text and tag not in _RAW_TEXT_TAGS and len(_KNOWN_TAGS) < _MAX_KNOWN_TAGS:
            _KNOWN_TAGS[text] = tag_facts
        self._take(tag_facts)

    def read(self, tags: Iterable[str]) -> None:
        """Parse tags, with known ones from the cache: most of them occur on every page."""
        for text in tags:
            if not _RELEVANT_TAG.search(text):
                continue
            if known := _KNOWN_TAGS.get(text):
                self._take(known)
            else:
                self.reset()  # parse the tag on its own
                self.feed(text)

    def _take(self, tag_facts: "_TagFacts") -> None:
        self.ids += tag_facts.ids
        self.urls += tag_facts.urls
        self.referenced_ids += tag_facts.referenced_ids
        self.silent += tag_facts.silent
        self.forbidden += tag_facts.forbidden
        self.in_body = self.in_body or tag_facts.name == "body"
        if self.in_body and tag_facts.name in _HEAD_TAGS:
            self.forbidden.append(
                (f"<{tag_facts.name}", f"the page has a <{tag_facts.name}> in its text")
            )

    def handle_comment(self, data: str) -> None:
        if comment_ends_early(data):
            self.forbidden.append(("<!--", f"the comment <!--{data}--> ends earlier for a browser"))

    def unknown_decl(self, data: str) -> None:
        self.forbidden.append(("<![", f"the page has <![{data}]>"))


def _tag_facts(name: str, attributes: Mapping[str, str]) -> _TagFacts:
    canonical = name == "link" and attributes.get("rel") == "canonical"
    silent = name == "img" and not attributes.get("alt", "").strip()
    return _TagFacts(
        name=name,
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


def parse_facts(html: str) -> HtmlFacts:
    """Return the facts of a page."""
    reader = _FactsParser()
    if tags := _plain_tags(html):
        reader.read(tags)
    else:
        reader.feed(html)
        reader.close()
    return HtmlFacts(
        ids=tuple(reader.ids),
        urls=tuple(dict.fromkeys(reader.urls)),
        referenced_ids=tuple(dict.fromkeys(reader.referenced_ids)),
        images_without_alt=tuple(reader.silent),
        forbidden=tuple(dict.fromkeys(reader.forbidden)),
    )


def _plain_tags(html: str) -> list[str]:
    """Return the tags of a page, or none if one is not plain and needs the HTML parser.

    Finding them takes a tenth of the time of parsing.
    """
    tags: list[str] = _PLAIN_TAG.findall(html)
    return tags if len(tags) == html.count("<") and not _NESTED_TAG.search(html) else []
