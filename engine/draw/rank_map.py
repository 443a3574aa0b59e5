"""Scenes of the rank map: GPUs in nodes, a frame per axis with its groups."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from engine.core.text import Text
from engine.core.units import Count
from engine.core.views import Frame, Scene, Shape
from engine.draw.rank_map_shapes import Place, cell, curve, label, legend, node_box
from engine.simulate.layer.device_model import Axis
from engine.simulate.step.rank_map import Mesh, Ranks

WIDTH, HEIGHT = 600.0, 560.0
_HEAD, _GAP, _LARGEST = 20.0, 10.0, 62.0
# Room for the curves above the first row, where no names of nodes leave it.
_BOW = 14.0
# Beyond so many GPUs only the chosen one's groups are drawn; numbers and all colors end later.
_ALL_GROUPS, _NUMBERS, _TINTS = 64, 160, 256
_STRENGTHS = (0.5, 0.26, 0.1, 0.38)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The axis and caption of one frame.

    Attributes:
        axis: whose groups; None for all groups of the chosen GPU.
        caption: of the frame.
    """

    axis: Axis | None
    caption: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Layout of nodes in columns, each with GPUs in rows of at most eight.

    Attributes:
        across: nodes beside one another.
        columns, rows: GPUs of a node.
        side: of a GPU.
        head: room for the node's name.
        height: of all.
    """

    across: Count
    columns: Count
    rows: Count
    side: float
    head: float
    height: float

    def corner(self, node: Count) -> tuple[float, float]:
        """Return the upper left corner of a node's box."""
        row, column = divmod(node, self.across)
        wide, high = self.columns * self.side + _GAP, self.rows * self.side + self.head + _GAP
        left = (WIDTH - self.across * wide + _GAP) / 2
        return left + column * wide, row * high + (0.0 if self.head else _BOW)

    def seats(self, node: Count, ranks: Count) -> Iterator[Place]:
        """Yield the squares of a node's ranks."""
        left, top = self.corner(node)
        side = round(self.side, 1)
        for local in range(ranks):
            row, column = divmod(local, self.columns)
            x, y = left + column * self.side, top + self.head + row * self.side
            yield Place(x=round(x, 1), y=round(y, 1), side=side)


@lru_cache(maxsize=8)
def _seats(grid: Grid, world_size: Count, gpus_per_node: Count) -> tuple[Place, ...]:
    """Return the square of every rank."""
    firsts = enumerate(range(0, world_size, gpus_per_node))
    ranks = ((node, min(gpus_per_node, world_size - first)) for node, first in firsts)
    return tuple(seat for node, count in ranks for seat in grid.seats(node, count))


def grid_of(mesh: Mesh) -> Grid:
    """Return the layout with the largest GPUs that fit the drawing."""
    used = min(mesh.gpus_per_node, mesh.world_size)
    columns = min(8, used)
    rows = -(-used // columns)
    best = None
    for across in range(1, mesh.num_nodes + 1):
        down = -(-mesh.num_nodes // across)
        wide = (WIDTH - (across - 1) * _GAP) / (across * columns)
        head = _HEAD if mesh.num_nodes <= 24 else 0.0
        high = ((HEIGHT + _GAP) / down - _GAP - head) / rows
        side = min(wide, high, _LARGEST)
        if best is None or side > best.side:
            height = down * (rows * side + head + _GAP) + (0.0 if head else _BOW)
            best = Grid(
                across=across, columns=columns, rows=rows, side=side, head=head, height=height
            )
    assert best is not None
    return best


# A first frame that shows so much of what the fullest does is not empty.
_FULL = 0.8


def map_scene(
    mesh: Mesh,
    chosen: Count,
    names: tuple[Mapping[Axis, str], ...],
    looks: tuple[Look, ...],
    colors: Mapping[Axis, str],
    boxes_of: tuple[str, Count],
) -> Scene:
    """Return the scene: `names` are the groups of each rank by axis, `looks` the frames.

    `colors` maps each axis to the words of the legend; `boxes_of` is the kind of object that so
    many nodes are in other views, "" for none.
    """
    grid = grid_of(mesh)
    seats = _seats(grid, mesh.world_size, mesh.gpus_per_node)
    boxes = [
        shape
        for node in range(mesh.num_nodes)
        for shape in node_box(
            node,
            grid.corner(node),
            (grid.columns, grid.rows),
            grid.side,
            grid.head,
            _box(boxes_of, node),
        )
    ]
    per_frame = [_chains(mesh, chosen, look.axis, tuple(colors)) for look in looks]
    slots = max(len(chains) for chains in per_frame)
    numbered = mesh.world_size if mesh.world_size <= _NUMBERS else 0
    numbers = [label(rank, seats[rank]) for rank in range(numbered)]
    frames, cell_by_look = [], {}
    for look, chains in zip(looks, per_frame, strict=True):
        tints = _tints(mesh, chosen, look.axis, tuple(colors))
        cells = []
        whole = not look.axis or mesh.world_size > _TINTS
        for rank, tint in enumerate(tints):
            # Beyond so many GPUs the links of a rank are the same in all frames.
            key = rank, tint, None if whole else look.axis
            if key not in cell_by_look:
                links = _links(mesh, rank, names, look)
                cell_by_look[key] = cell(rank, seats[rank], tint, rank == chosen, links)
            cells.append(cell_by_look[key])
        lines = [curve(slot, chains, seats) for slot in range(slots)]
        keys = legend(colors, look.axis, WIDTH, (grid.corner(0)[0], grid.height))
        shapes: tuple[Shape, ...] = (*boxes, *cells, *lines, *numbers, *keys)
        frames.append(Frame(caption=look.caption, shapes=shapes))
    return Scene(
        title="GPUs in their nodes",
        width=WIDTH,
        height=round(grid.height + 26, 1),
        frames=tuple(frames),
        opening=_opening(frames),
        caption="Point at a GPU: what lights up belongs to one of its groups. Step through the "
        "axes, or play.",
    )


def _opening(frames: Sequence[Frame]) -> Count:
    """Return the opening frame: the first, unless it shows far less than the fullest."""
    shown = [
        sum(shape.attributes.get("opacity") != "0" for shape in frame.shapes) for frame in frames
    ]
    return 0 if shown[0] > _FULL * max(shown) else shown.index(max(shown))


def _box(boxes_of: tuple[str, Count], node: Count) -> str:
    kind, nodes = boxes_of
    return f"{kind}:{node // nodes}" if kind else ""


def _links(mesh: Mesh, rank: Count, names: tuple[Mapping[Axis, str], ...], look: Look) -> str:
    """Return the linked objects of a GPU; in a frame of one axis only its group there."""
    own = names[rank]
    one_axis = look.axis and mesh.world_size <= _TINTS
    shown = [own[look.axis]] if look.axis and one_axis else own.values()
    return " ".join((f"rank:{rank}", *shown))


def _tints(
    mesh: Mesh, chosen: Count, axis: Axis | None, axes: tuple[Axis, ...]
) -> list[tuple[str, float]]:
    """Return (color, strength) of every rank."""
    tints: list[tuple[str, float]] = [("muted", 0.08)] * mesh.world_size
    if axis is None:
        for group_axis in reversed(axes):
            for rank in mesh.group(group_axis, chosen):
                tints[rank] = (group_axis, 0.42)
        tints[chosen] = ("accent", 0.3)
        return tints
    if mesh.world_size <= _TINTS:
        for index, ranks in enumerate(mesh.groups(axis)):
            for rank in ranks:
                tints[rank] = (axis, _STRENGTHS[index % len(_STRENGTHS)])
        return tints
    for rank in mesh.group(axis, chosen):
        tints[rank] = (axis, _STRENGTHS[0])
    return tints


def _chains(
    mesh: Mesh, chosen: Count, axis: Axis | None, axes: tuple[Axis, ...]
) -> list[tuple[Count, Count, str, bool]]:
    """Return group curves as (from, to, axis, leaves the node), rank after rank."""
    chains: list[tuple[Count, Count, str, bool]] = []
    all_groups = axis is not None and mesh.world_size <= _ALL_GROUPS
    for group_axis in axes if axis is None else (axis,):
        for ranks in mesh.groups(group_axis) if all_groups else (mesh.group(group_axis, chosen),):
            chains += _chain(mesh, ranks, group_axis)
    return chains


def _chain(mesh: Mesh, ranks: Ranks, axis: Axis) -> list[tuple[Count, Count, str, bool]]:
    pairs = pairwise(ranks)
    return [(a, b, axis, mesh.node_of(a) != mesh.node_of(b)) for a, b in pairs]
