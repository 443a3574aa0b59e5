"""Links, anchors and ids of finished pages, checked as a browser follows them."""

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from builder.pages.html_facts import Facts

_OUTER = ("https://", "data:", "blob:", "mailto:", "?", "/_")


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
    for path, facts in pages.items():
        if _is_sound(reaches[path], reaches, there):
            continue
        yield from ((path, about, message) for about, message in _wrong_here(facts))
        for url in facts.urls:
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


def reach(path: str, facts: Facts) -> Reach:
    """Return where a page leads."""
    inner = [url for url in facts.urls if not url.startswith(_OUTER)]
    ids = frozenset(facts.ids)
    found = [_target(url, path) for url in inner]
    own = all(anchor in ids for target, anchor in found if anchor and target == path)
    outer = any(":" in url.partition("#")[0].partition("?")[0] for url in inner)
    return Reach(
        sound=own and not outer and not any(_wrong_here(facts)),
        files=frozenset(target for target, _ in found),
        anchors=tuple((target, anchor) for target, anchor in found if anchor and target != path),
        ids=ids,
    )


def _wrong_here(facts: Facts) -> Iterator[tuple[str, str]]:
    for name, count in Counter(facts.ids).items():
        if count > 1:
            yield name, f"the id '{name}' stands {count} times on the page"
    ids = frozenset(facts.ids)
    for name in facts.referred:
        if name not in ids:
            yield name, f"'{name}' is referred to by its id, but there is none"
    yield from facts.forbidden
    for source in facts.silent_images:
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
