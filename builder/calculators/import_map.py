"""Import matrix of the packages as SVG: `[[imports.*]]` on its own line.

A square stands where the package of its row imports the package of its column. The packages are in
topological order, so a square above the diagonal shows an import cycle.
"""

from collections.abc import Iterable, Mapping
from html import escape

from builder.core.module_imports import ImportGraph

CELL, LEFT, TOP = 18, 150, 130
_CELL_SVG = '<rect x="{x}" y="{y}" width="{w}" height="{w}" class="{kind}" fill="currentColor"/>'


def package_graph(imports: ImportGraph) -> dict[str, set[str]]:
    """Return package -> packages that it imports, such as `builder` and `engine.run`."""
    graph: dict[str, set[str]] = {}
    for path in imports.sources:
        if path.endswith("/__init__.py"):  # imported by every import of the package
            continue
        imported = graph.setdefault(_package(path), set())
        used = (
            module for module in imports.direct_imports(path) if not module.endswith("/__init__.py")
        )
        imported |= {_package(module) for module in used} - {_package(path)}
    return graph


def _package(path: str) -> str:
    """Return the package of a module; a top-level module of the engine is its own package."""
    pieces = path.removesuffix(".py").split("/")
    return pieces[0] if pieces[0] != "engine" else ".".join(pieces[:2])


def topological_order(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the packages in topological order; packages of a cycle by name."""
    remaining, order = {name: set(needs) for name, needs in graph.items()}, []
    while remaining:
        ready = sorted(name for name, needs in remaining.items() if not needs & set(remaining))
        for name in ready or sorted(remaining)[:1]:
            order.append(name)
            del remaining[name]
    return order


def draw(graph: Mapping[str, Iterable[str]]) -> str:
    """Return the import matrix as SVG."""
    order = topological_order(graph)
    positions = {name: number for number, name in enumerate(order)}
    size = CELL * len(order)
    labels = "".join(
        f'<text x="{LEFT - 8}" y="{TOP + CELL * row + 13}" text-anchor="end">{escape(name)}</text>'
        f'<text transform="translate({LEFT + CELL * row + 13} {TOP - 8}) rotate(-60)">'
        f"{escape(name)}</text>"
        for name, row in positions.items()
    )
    cells = "".join(
        _CELL_SVG.format(x=LEFT + CELL * column + 3, y=TOP + CELL * row + 3, w=CELL - 6, kind=kind)
        for name, row in positions.items()
        for other, column in positions.items()
        for kind in _cell_classes(name, other, graph)
    )
    label = f"{len(order)} parts; each imports only parts above it"
    width, height = LEFT + size + 70, TOP + size + 8
    return (
        f'<div class="scroll"><svg class="import-map" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{label}" font-size="13" fill="currentColor">{labels}{cells}</svg></div>'
    )


def _cell_classes(name: str, other: str, graph: Mapping[str, Iterable[str]]) -> list[str]:
    if name == other:
        return ["c-idle"]
    return ["c-compute"] if other in graph[name] else []
