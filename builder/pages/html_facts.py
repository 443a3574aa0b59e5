"""What a finished page has, read tag by tag as a browser reads it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser

from builder.markdown.allowed_html import ends_early
from builder.markdown.extensions.links import is_internal

_BY_ID = (
    "for",
    "aria-describedby",
    "aria-labelledby",
    "aria-controls",
    "popovertarget",
)

_NEVER = ("iframe", "frame", "frameset", "object", "embed", "applet", "style", "base")
_IN_HEAD = ("meta", "link")
_LINKED = ("href", "src", "data-figures", "data-bokeh", "data-worker", "data-runtime")
_TELLS = ("ping", "srcdoc", "formaction", "background")
# A tag that every parser takes for the same: in small letters, its values quoted, none with "<" in
# it. After `plaintext` no other tag follows.
_PLAIN = re.compile(
    r"""<(?:!doctype html|/[a-z][a-z0-9]*|(?!plaintext)[a-z][a-z0-9]*"""
    r"""(?:[ \n]+(?:[a-z][a-z0-9:-]*|viewBox|preserveAspectRatio)(?:="[^"<]*"|='[^'<]*')?)*"""
    r"""[ \n]*/?)>"""
)
# What a tag has that says anything: one of these names, or an attribute that begins with one.
_TELLING = re.compile(
    rf"<(?:img|script|body|{'|'.join((*_NEVER, *_IN_HEAD))})\b"
    rf"|[ \n](?:id|on|{'|'.join((*_LINKED, *_BY_ID, *_TELLS))})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a page has: ids, URLs it uses, ids it refers to, images without alt text.

    `forbidden` is what its policy refuses: (what it is about, message).
    """

    ids: tuple[str, ...]
    urls: tuple[str, ...]
    referred: tuple[str, ...]
    silent_images: tuple[str, ...]
    forbidden: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tag:
    """What a start tag says, as `Facts` has it for a page."""

    name: str
    ids: tuple[str, ...]
    urls: tuple[str, ...]
    referred: tuple[str, ...]
    silent: tuple[str, ...]
    forbidden: tuple[tuple[str, str], ...]


_KNOWN: dict[str, _Tag] = {}  # the text of a tag -> what it says
_MOST = 1 << 16
# After these, a parser reads on in another way.
_VERBATIM = frozenset(
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
_HELD = re.compile(rf"<({'|'.join(sorted(_VERBATIM))})\b[^<]*<(?!/\1>)")  # a tag within one


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.urls: list[str] = []
        self.referred: list[str] = []
        self.silent: list[str] = []
        self.forbidden: list[tuple[str, str]] = []
        self.in_body = False

    def updatepos(self, i: int, j: int) -> int:
        """Go on; nobody asks for the line."""
        return j

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = _tag(tag, {name: value or "" for name, value in attrs})
        text = self.get_starttag_text()
        if text and tag not in _VERBATIM and len(_KNOWN) < _MOST:
            _KNOWN[text] = found
        self._take(found)

    def read(self, tags: Iterable[str]) -> None:
        """Read tags, or know them: most of them stand on every page."""
        for text in tags:
            if not _TELLING.search(text):
                continue
            if known := _KNOWN.get(text):
                self._take(known)
            else:
                self.reset()  # it reads on as after no other tag
                self.feed(text)

    def _take(self, found: "_Tag") -> None:
        self.ids += found.ids
        self.urls += found.urls
        self.referred += found.referred
        self.silent += found.silent
        self.forbidden += found.forbidden
        self.in_body = self.in_body or found.name == "body"
        if self.in_body and found.name in _IN_HEAD:
            self.forbidden.append((f"<{found.name}", f"the page has a <{found.name}> in its text"))

    def handle_comment(self, data: str) -> None:
        if ends_early(data):
            self.forbidden.append(("<!--", f"the comment <!--{data}--> ends earlier for a browser"))

    def unknown_decl(self, data: str) -> None:
        self.forbidden.append(("<![", f"the page has <![{data}]>"))


def _tag(name: str, given: Mapping[str, str]) -> _Tag:
    canonical = name == "link" and given.get("rel") == "canonical"
    silent = name == "img" and not given.get("alt", "").strip()
    return _Tag(
        name=name,
        ids=tuple(given[one] for one in ("id",) if one in given),
        urls=() if canonical else tuple(given[one] for one in _LINKED if one in given),
        referred=tuple(key for one in _BY_ID for key in given.get(one, "").split()),
        silent=(given.get("src", ""),) if silent else (),
        forbidden=tuple(_forbidden(name, given)),
    )


def _forbidden(tag: str, given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    inline = tag == "script" and "src" not in given and "json" not in given.get("type", "")
    if inline or tag in _NEVER:
        yield f"<{tag}", f"the page has a <{tag}> of its own"
    for name, value in given.items():
        if name.startswith("on"):
            yield (
                name,
                f"the attribute '{name}' is a script, which the page's policy refuses",
            )
        if name in _TELLS:
            yield name, f"the attribute '{name}' is not allowed on a page"
        if name in ("src", "srcset") and not is_internal(value):
            yield (
                value,
                f"'{value}' is not a file of the site; a page loads nothing else",
            )
        if name == "href" and tag == "a" and value.startswith(("data:", "blob:")):
            yield value, f"external link '{value}' has to begin with https://"


def facts(html: str) -> Facts:
    """Return what a page has."""
    reader = _Reader()
    if tags := _plain(html):
        reader.read(tags)
    else:
        reader.feed(html)
        reader.close()
    return Facts(
        ids=tuple(reader.ids),
        urls=tuple(dict.fromkeys(reader.urls)),
        referred=tuple(dict.fromkeys(reader.referred)),
        silent_images=tuple(reader.silent),
        forbidden=tuple(dict.fromkeys(reader.forbidden)),
    )


def _plain(html: str) -> list[str]:
    """Return the tags of a page, none where one is not plain: a parser is asked for those.

    To find them takes a tenth of the time that a parser takes.
    """
    tags: list[str] = _PLAIN.findall(html)
    return tags if len(tags) == html.count("<") and not _HELD.search(html) else []
