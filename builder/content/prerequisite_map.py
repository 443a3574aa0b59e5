"""The prerequisites of a learning path as a map: one guide a row, arcs from what it builds on."""

from collections.abc import Mapping, Sequence
from html import escape

from builder.content.page_links import Entry

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
