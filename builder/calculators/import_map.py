"""Which part imports which, drawn from the imports themselves: `[[imports.*]]` on its own line.

A square stands where the part of its row imports the part of its column. The parts are in an order
in which each imports only those above it, so that a square above the diagonal is a circle.
"""

from collections.abc import Iterable, Mapping
from html import escape

from builder.core.module_imports import Imports

CELL, LEFT, TOP = 18, 150, 130
_DRAWN = '<rect x="{x}" y="{y}" width="{w}" height="{w}" class="{kind}" fill="currentColor"/>'


def parts(imports: Imports) -> dict[str, set[str]]:
    """Return part -> parts that it imports: a package `builder`, a room `engine.run`."""
    found: dict[str, set[str]] = {}
    for path in imports.sources:
        if path.endswith("/__init__.py"):  # every import passes it
            continue
        mine = found.setdefault(_part(path), set())
        used = (one for one in imports.direct(path) if not one.endswith("/__init__.py"))
        mine |= {_part(one) for one in used} - {_part(path)}
    return found


def _part(path: str) -> str:
    """Return the part that a module is in; a module of the engine's own is one by itself."""
    pieces = path.removesuffix(".py").split("/")
    return pieces[0] if pieces[0] != "engine" else ".".join(pieces[:2])


def ordered(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the parts, each after all that it imports; of a circle, by name."""
    left, order = {name: set(needs) for name, needs in graph.items()}, []
    while left:
        free = sorted(name for name, needs in left.items() if not needs & set(left))
        for name in free or sorted(left)[:1]:
            order.append(name)
            del left[name]
    return order


def draw(graph: Mapping[str, Iterable[str]]) -> str:
    """Return the drawing as SVG."""
    order = ordered(graph)
    place = {name: number for number, name in enumerate(order)}
    size = CELL * len(order)
    words = "".join(
        f'<text x="{LEFT - 8}" y="{TOP + CELL * row + 13}" text-anchor="end">{escape(name)}</text>'
        f'<text transform="translate({LEFT + CELL * row + 13} {TOP - 8}) rotate(-60)">'
        f"{escape(name)}</text>"
        for name, row in place.items()
    )
    cells = "".join(
        _DRAWN.format(x=LEFT + CELL * column + 3, y=TOP + CELL * row + 3, w=CELL - 6, kind=kind)
        for name, row in place.items()
        for other, column in place.items()
        for kind in _kinds(name, other, graph)
    )
    label = f"{len(order)} parts; each imports only parts above it"
    width, height = LEFT + size + 70, TOP + size + 8
    return (
        f'<div class="scroll"><svg class="import-map" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{label}" font-size="13" fill="currentColor">{words}{cells}</svg></div>'
    )


def _kinds(name: str, other: str, graph: Mapping[str, Iterable[str]]) -> list[str]:
    if name == other:
        return ["c-idle"]
    return ["c-compute"] if other in graph[name] else []
