"""Pages of learning paths: steps with outcomes, and the prerequisite map."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from builder.content.article import Article
from builder.content.navigation import PageLink, page_link
from builder.core.problem import Problem

_ROW, _LANE, _GAP, _RADIUS = 34, 9, 14, 5
_CHARACTER = 8.4  # mean width of a letter of the titles


def draw_prerequisite_map(
    entries: Sequence[PageLink], outside: set[str], requires: Mapping[str, Sequence[str]], root: str
) -> str:
    """Return the prerequisite map of guides as SVG, with a link on every guide.

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
    longest = max((len(_short_title(entry)) for entry in entries), default=0)
    width, height = gutter + _GAP + _CHARACTER * longest, _ROW * len(entries)
    return (
        f'<svg class="path-map" viewBox="0 0 {width:g} {height}" style="max-width:{width:g}px" '
        f'role="group" aria-label="What each guide builds on">{curves}{marks}</svg>'
    )


def _short_title(entry: PageLink) -> str:
    """Return the title up to its colon, so that the map fits a phone."""
    return entry.title.split(": ")[0]


def _lanes(arcs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the lane of each arc: outside of every shorter arc that it overlaps."""
    lanes: dict[tuple[int, int], int] = {}
    for arc in sorted(set(arcs), key=lambda ends: abs(ends[1] - ends[0])):
        low, high = sorted(arc)
        crossed = (
            lane for other, lane in lanes.items() if max(low, min(other)) < min(high, max(other))
        )
        lanes[arc] = 1 + max(crossed, default=0)
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


def _row(entry: PageLink, row: int, gutter: float, outside: set[str], root: str) -> str:
    middle = _ROW * (row + 0.5)
    kind = ' class="outside"' if entry.slug in outside else ""
    return (
        f'<a href="{escape(root + entry.url)}"{kind}>'
        f'<circle cx="{gutter:g}" cy="{middle:g}" r="{_RADIUS}"/>'
        f'<text x="{gutter + _GAP:g}" y="{middle + 5:g}">{escape(_short_title(entry))}</text></a>'
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PathStep:
    """A guide of a learning path and its learning outcomes, as HTML texts."""

    guide: PageLink
    outcomes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPage:
    """A learning path's page: its guides in order, and the prerequisite map."""

    steps: tuple[PathStep, ...]
    map: str


def path_page(
    path: Article, articles: Iterable[Article], outcomes: Mapping[str, tuple[str, ...]], root: str
) -> PathPage:
    """Return the data of a learning path's page.

    Args:
        path: the page.
        articles: all of them.
        outcomes: source -> learning outcomes of a guide.
        root: way from the page to the output folder.
    """
    guides = {guide.slug: guide for guide in articles if guide.kind == "guide"}
    path_guides = sorted(
        (guide for guide in guides.values() if guide.path == path.path),
        key=lambda guide: (guide.order, guide.slug),
    )
    names = {guide.slug for guide in path_guides}
    outside = dict.fromkeys(
        slug
        for guide in path_guides
        for slug in guide.requires
        if slug in guides and slug not in names
    )
    guides_in_map = [*(guides[slug] for slug in outside), *path_guides]
    prerequisite_map = draw_prerequisite_map(
        [page_link(guide) for guide in guides_in_map],
        set(outside),
        {guide.slug: guide.requires for guide in path_guides},
        root,
    )
    steps = (
        PathStep(guide=page_link(guide), outcomes=outcomes.get(guide.source, ()))
        for guide in path_guides
    )
    return PathPage(steps=tuple(steps), map=prerequisite_map)


def path_page_problems(articles: Iterable[Article]) -> list[Problem]:
    """Return problems for path pages without guides, and for duplicate pages of a path."""
    all_articles = tuple(articles)
    path_names = sorted({article.path for article in all_articles if article.kind == "guide"})
    first_source: dict[str, str] = {}
    problems = []
    for page in (article for article in all_articles if article.kind == "path"):
        if page.path not in path_names:
            message = f"no guide is on the path '{page.path}'; there are {', '.join(path_names)}"
            problems.append(Problem(page.source, 1, message))
        elif page.path in first_source:
            problems.append(
                Problem(page.source, 1, f"'{page.path}' has a page: {first_source[page.path]}")
            )
        first_source.setdefault(page.path, page.source)
    return problems
