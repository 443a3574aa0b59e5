"""What the page of a learning path shows of its guides; it grows with them by itself."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from builder.content.article import Article
from builder.content.navigation import Entry, entry
from builder.core.problem import Problem

_ROW, _LANE, _GAP, _RADIUS = 34, 9, 14, 5
_CHARACTER = 8.4  # mean width of a letter of the titles


def draw(
    entries: Sequence[Entry], outside: set[str], requires: Mapping[str, Sequence[str]], root: str
) -> str:
    """Return the map as SVG with a link on every guide.

    Args:
        entries: guides in an order in which every one follows what it requires, as far as can be.
        outside: slugs of those that belong to another path.
        requires: slug -> slugs of the guides to read before.
        root: way from the page to the output folder.
    """
    rows = {entry.slug: row for row, entry in enumerate(entries)}
    arcs = [
        (rows[before], rows[slug])
        for slug in rows
        for before in requires.get(slug, ())
        if before in rows
    ]
    lanes = _lanes(arcs)
    gutter = _LANE * (1 + max(lanes.values(), default=0)) + _GAP
    curves = "".join(_arc(arc, gutter, lane) for arc, lane in lanes.items())
    marks = "".join(_row(entry, row, gutter, outside, root) for row, entry in enumerate(entries))
    longest = max((len(_short(entry)) for entry in entries), default=0)
    width, height = gutter + _GAP + _CHARACTER * longest, _ROW * len(entries)
    return (
        f'<svg class="path-map" viewBox="0 0 {width:g} {height}" style="max-width:{width:g}px" '
        f'role="group" aria-label="What each guide builds on">{curves}{marks}</svg>'
    )


def _short(entry: Entry) -> str:
    """Return the title up to its colon, so that the map is read on a phone too."""
    return entry.title.split(": ")[0]


def _lanes(arcs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return how far out each arc swings: past every shorter one that it meets."""
    lanes: dict[tuple[int, int], int] = {}
    for arc in sorted(set(arcs), key=lambda one: abs(one[1] - one[0])):
        low, high = sorted(arc)
        met = (
            lane for other, lane in lanes.items() if max(low, min(other)) < min(high, max(other))
        )
        lanes[arc] = 1 + max(met, default=0)
    return lanes


def _arc(arc: tuple[int, int], gutter: float, lane: int) -> str:
    start, end = (_ROW * (row + 0.5) for row in arc)
    turn = min(_RADIUS * 1.6, abs(end - start) / 2)
    side = gutter - _LANE * lane
    down = turn if end > start else -turn
    return (
        f'<path class="arc" d="M{gutter:g} {start:g}H{side + turn:g}Q{side:g} {start:g} {side:g} '
        f"{start + down:g}V{end - down:g}Q{side:g} {end:g} {side + turn:g} {end:g}"
        f'H{gutter - 7:g}"/>'
        f'<path class="tip" d="M{gutter - 11:g} {end - 4:g}L{gutter - 6:g} {end:g}L{gutter - 11:g} '
        f'{end + 4:g}"/>'
    )


def _row(entry: Entry, row: int, gutter: float, outside: set[str], root: str) -> str:
    middle = _ROW * (row + 0.5)
    kind = ' class="outside"' if entry.slug in outside else ""
    return (
        f'<a href="{escape(root + entry.url)}"{kind}>'
        f'<circle cx="{gutter:g}" cy="{middle:g}" r="{_RADIUS}"/>'
        f'<text x="{gutter + _GAP:g}" y="{middle + 5:g}">{escape(_short(entry))}</text></a>'
    )


_ABLE = re.compile(r"<p>After this guide you can.*?</p>\s*<ul>(.*?)</ul>", re.DOTALL)
_ITEM = re.compile(r"<li>(.*?)</li>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A guide of a path, and what a reader can do after it, as texts of HTML."""

    guide: Entry
    able: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A learning path: its guides in order, and the map of what builds on what."""

    steps: tuple[Step, ...]
    map: str


def way(path: Article, articles: Iterable[Article], prose: Mapping[str, str], root: str) -> Way:
    """Return what the page of a path shows.

    Args:
        path: the page.
        articles: all of them.
        prose: source -> HTML of a guide.
        root: way from the page to the output folder.
    """
    guides = {one.slug: one for one in articles if one.kind == "guide"}
    own = sorted(
        (one for one in guides.values() if one.path == path.path),
        key=lambda one: (one.order, one.slug),
    )
    names = {one.slug for one in own}
    before = dict.fromkeys(
        slug for one in own for slug in one.requires if slug in guides and slug not in names
    )
    rows = [*(guides[slug] for slug in before), *own]
    drawn = draw(
        [entry(one) for one in rows],
        set(before),
        {one.slug: one.requires for one in own},
        root,
    )
    steps = (Step(guide=entry(one), able=able(prose.get(one.source, ""))) for one in own)
    return Way(steps=tuple(steps), map=drawn)


def able(html: str) -> tuple[str, ...]:
    """Return what a guide says that a reader can do after it, without links and live numbers."""
    found = _ABLE.search(html)
    items = _ITEM.findall(found[1]) if found else ()
    return tuple(re.sub(r"<[^>]+>|⟦[^⟧]*⟧", "", item).strip().rstrip(";.") for item in items)


def problems(articles: Iterable[Article]) -> list[Problem]:
    """Return the pages of paths that no guide is on, and second pages of one path."""
    found = tuple(articles)
    known = sorted({one.path for one in found if one.kind == "guide"})
    seen: dict[str, str] = {}
    wrong = []
    for page in (one for one in found if one.kind == "path"):
        if page.path not in known:
            message = f"no guide is on the path '{page.path}'; there are {', '.join(known)}"
            wrong.append(Problem(page.source, 1, message))
        elif page.path in seen:
            wrong.append(Problem(page.source, 1, f"'{page.path}' has a page: {seen[page.path]}"))
        seen.setdefault(page.path, page.source)
    return wrong
