"""Check finished pages as a browser sees them: links, anchors, ids, images, references by id."""

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import unquote

from builder.markup.links import is_internal
from builder.raw_html import ends_early

_BY_ID = (
    "for",
    "aria-describedby",
    "aria-labelledby",
    "aria-controls",
    "popovertarget",
)

_NEVER = ("iframe", "frame", "frameset", "object", "embed", "applet", "style", "base")
_IN_HEAD = ("meta", "link")
_OUTER = ("https://", "data:", "blob:", "mailto:", "?", "/_")
_TELLS = ("ping", "srcdoc", "formaction", "background")


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

    def parse_starttag(self, i: int) -> int:
        """Read a tag, or know it: most of them stand on every page."""
        end = self.check_for_whole_start_tag(i)
        known = _KNOWN.get(self.rawdata[i:end]) if end > 0 else None
        if known is None:
            return super().parse_starttag(i)
        self._take(known)
        return end

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = _tag(tag, {name: value or "" for name, value in attrs})
        text = self.get_starttag_text()
        if text and tag not in _VERBATIM and len(_KNOWN) < _MOST:
            _KNOWN[text] = found
        self._take(found)

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
    linked = (
        "href",
        "src",
        "data-figures",
        "data-bokeh",
        "data-worker",
        "data-runtime",
    )
    canonical = name == "link" and given.get("rel") == "canonical"
    silent = name == "img" and not given.get("alt", "").strip()
    return _Tag(
        name=name,
        ids=tuple(given[one] for one in ("id",) if one in given),
        urls=() if canonical else tuple(given[one] for one in linked if one in given),
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
    reader.feed(html)
    reader.close()
    return Facts(
        ids=tuple(reader.ids),
        urls=tuple(dict.fromkeys(reader.urls)),
        referred=tuple(dict.fromkeys(reader.referred)),
        silent_images=tuple(reader.silent),
        forbidden=tuple(dict.fromkeys(reader.forbidden)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Where a page leads.

    Attributes:
        sound: nothing is wrong with it as far as itself tells.
        files: that its links name.
        anchors: (file, anchor) on other pages.
        ids: its own.
    """

    sound: bool
    files: frozenset[str]
    anchors: tuple[tuple[str, str], ...]
    ids: frozenset[str]


def wrong(
    pages: Mapping[str, Facts], others: frozenset[str], known: Mapping[str, Reach] | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yield (page, text it is about, message) for all that is wrong.

    Args:
        pages: path in the output -> what the page has.
        others: paths of the output's other files.
        known: path in the output -> where the page leads, found out here where not given.
    """
    there, reaches = others.union(pages), known or {p: reach(p, one) for p, one in pages.items()}
    for path, page in pages.items():
        if _is_sound(reaches[path], reaches, there):
            continue
        yield from ((path, about, message) for about, message in _wrong_here(page))
        for url in page.urls:
            message = _wrong_url(url, path, pages, others)
            if message:
                yield path, url, message


def _is_sound(one: Reach, reaches: Mapping[str, Reach], there: frozenset[str]) -> bool:
    return (
        one.sound
        and one.files <= there
        and all(
            anchor in reaches[target].ids for target, anchor in one.anchors if target in reaches
        )
    )


def reach(path: str, page: Facts) -> Reach:
    """Return where a page leads."""
    inner = [url for url in page.urls if not url.startswith(_OUTER)]
    ids = frozenset(page.ids)
    found = [_target(url, path) for url in inner]
    own = all(anchor in ids for target, anchor in found if anchor and target == path)
    outer = any(":" in url.partition("#")[0].partition("?")[0] for url in inner)
    return Reach(
        sound=own and not outer and not any(_wrong_here(page)),
        files=frozenset(target for target, _ in found),
        anchors=tuple((target, anchor) for target, anchor in found if anchor and target != path),
        ids=ids,
    )


def _wrong_here(page: Facts) -> Iterator[tuple[str, str]]:
    for name, count in Counter(page.ids).items():
        if count > 1:
            yield name, f"the id '{name}' stands {count} times on the page"
    for name in page.referred:
        if name not in page.ids:
            yield name, f"'{name}' is referred to by its id, but there is none"
    yield from page.forbidden
    for source in page.silent_images:
        yield source, f"image '{source}' has no alt text"


def _wrong_url(url: str, path: str, pages: Mapping[str, Facts], others: frozenset[str]) -> str:
    if url.startswith(_OUTER):
        return ""
    if ":" in url.partition("#")[0].partition("?")[0]:
        return f"external link '{url}' has to begin with https://"
    target, anchor = _target(url, path)
    if target not in pages and target not in others:
        return f"link to '{url}': there is no {target} in the output"
    if anchor and target in pages and anchor not in pages[target].ids:
        said = url.partition("#")[2]
        made = ("_", "receipt-", "ref-", "fn")
        there = ", ".join(n for n in pages[target].ids if not n.startswith(made)) or "none"
        return f"link to '{url}': {target} has no anchor '{said}'; there are {there}"
    return ""


def _target(url: str, path: str) -> tuple[str, str]:
    """Return the file and the anchor that a URL on the page at a path leads to."""
    address, _, anchor = url.partition("#")
    address = unquote(address.partition("?")[0])
    if not address:
        return path, unquote(anchor)
    home = "../" * path.count("/")
    # Most links lead by the home page, and need no more than that to be cut off.
    rest = address.removeprefix(home) if address.startswith(home) else "/"
    crooked = rest[:1] == "/" or rest[-1:] == "." or "./" in rest or "//" in rest
    if crooked:
        return _joined(address, path), unquote(anchor)
    inner = "" if rest[-1:] not in ("", "/") else "index.html"
    return rest + inner, unquote(anchor)


def _joined(address: str, path: str) -> str:
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), address))
    if address.endswith("/") or target == ".":
        target = posixpath.normpath(posixpath.join(target, "index.html"))
    return target
