"""Scenes of the rank map: GPUs in nodes, a frame per axis with its groups."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from engine.core.text import Text
from engine.core.units import Count
from engine.core.views import Frame, Scene, Shape
from engine.draw.drag_handle import DragHandle
from engine.simulate.layer.device_model import Axis
from engine.simulate.step.rank_map import Mesh, Ranks

# Shapes of the rank map: node boxes, GPUs, curves, legend.

_INSET = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A square of the drawing: upper left corner and side."""

    x: float
    y: float
    side: float

    @property
    def middle(self) -> tuple[float, float]:
        """Its center."""
        return self.x + self.side / 2, self.y + self.side / 2

    @property
    def corner(self) -> tuple[float, float]:
        """A point near its upper right corner, beside its number."""
        return self.x + 0.78 * self.side, self.y + 0.22 * self.side


def node_box(
    node: Count,
    corner: tuple[float, float],
    gpus: tuple[Count, Count],
    side: float,
    head: float,
    links: str,
) -> list[Shape]:
    """Return the box of a node of (columns, rows) GPUs, and its name if there is room."""
    x, y = corner
    attributes = {
        "x": f"{x - 2:.1f}",
        "y": f"{y + head - 2:.1f}",
        "width": f"{gpus[0] * side + 4:.1f}",
        "height": f"{gpus[1] * side + 4:.1f}",
        "rx": "3",
        "class": "port",
    }
    if links:
        attributes["data-links"] = links
    ground = Shape(key=f"n{node}", tag="rect", attributes=attributes)
    if not head:
        return [ground]
    return [ground, _text(f"m{node}", (x + 1, y + head - 7), 17.6, f"node {node}", "c-muted", "")]


def cell(rank: Count, at: Place, tint: tuple[str, float], chosen: bool, links: str) -> Shape:
    """Return the square of a GPU; the selected one has a border."""
    inset = _INSET if at.side > 14 else 0.5
    return Shape(
        key=f"g{rank}",
        tag="rect",
        attributes={
            "x": f"{at.x + inset:.1f}",
            "y": f"{at.y + inset:.1f}",
            "width": f"{at.side - 2 * inset:.1f}",
            "height": f"{at.side - 2 * inset:.1f}",
            "rx": "2",
            "class": f"cell c-{tint[0]}" + (" done" if chosen else ""),
            "fill-opacity": f"{tint[1]:g}",
            "data-links": links,
        },
    )


@lru_cache(maxsize=2048)
def label(rank: Count, at: Place) -> Shape:
    """Return the number of a GPU."""
    x, y = at.middle
    font = min(17.6, at.side * 0.42)
    return _text(f"t{rank}", (x, y + font * 0.36), font, str(rank), "message-value leaving")


def curve(
    slot: Count, chains: Sequence[tuple[Count, Count, str, bool]], seats: Sequence[Place]
) -> Shape:
    """Return the curve in a slot, dashed between nodes, or an invisible one."""
    if slot >= len(chains):
        attributes = {"d": "M0 0", "class": "link c-muted", "fill": "none", "opacity": "0"}
        return Shape(key=f"e{slot}", tag="path", attributes=attributes)
    a, b, axis, across = chains[slot]
    (x0, y0), (x1, y1) = seats[a].corner, seats[b].corner
    # Beside the straight line, so that it does not run through the numbers of the GPUs between.
    bend = 0.12
    x, y = (x0 + x1) / 2 + bend * (y1 - y0), (y0 + y1) / 2 - bend * (x1 - x0)
    return Shape(
        key=f"e{slot}",
        tag="path",
        attributes={
            "d": f"M{x0:.1f} {y0:.1f}Q{x:.1f} {y:.1f} {x1:.1f} {y1:.1f}",
            "class": f"link c-{axis}",
            "fill": "none",
            "stroke-dasharray": "5 4" if across else "none",
            "opacity": "0.9",
        },
    )


# Widths of a square with its gaps, and of a letter of the legend.
_SQUARE, _LETTER = 32.0, 10.5


def legend(
    names: Mapping[Axis, str], shown: Axis | None, width: float, at: tuple[float, float]
) -> list[Shape]:
    """Return a square and a name per axis; in a frame of one axis the others are faint.

    They begin at the left edge `at` of the nodes, unless the names need more room than is there.
    """
    left, top = at
    need = max((_SQUARE + _LETTER * len(name) for name in names.values()), default=0.0)
    left = max(0.0, min(left, width - need * len(names)))
    room = (width - 2 * left) / max(len(names), 1)
    room = min(max(room, need), (width - left) / max(len(names), 1))
    shapes = []
    for index, (axis, name) in enumerate(names.items()):
        x, weak = left + index * room + 4, shown not in (None, axis)
        shapes.append(
            Shape(
                key=f"k{index}",
                tag="rect",
                attributes={
                    "x": f"{x:.1f}",
                    "y": f"{top + 4:.1f}",
                    "width": "14",
                    "height": "14",
                    "class": f"cell c-{axis}",
                    "fill-opacity": "0.15" if weak else "0.75",
                },
            )
        )
        shapes.append(_text(f"l{index}", (x + 20, top + 17), 17.6, name, "c-ink", ""))
    return shapes


def _text(
    key: str, at: tuple[float, float], size: float, text: str, kind: str, anchor: str = "middle"
) -> Shape:
    attributes = {
        "x": f"{at[0]:.1f}",
        "y": f"{at[1]:.1f}",
        "font-size": f"{size:.3g}",
        "class": kind,
    }
    if anchor:
        attributes["text-anchor"] = anchor
    return Shape(key=key, tag="text", attributes=attributes, text=text)


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
    node_size: str = "",
) -> Scene:
    """Return the scene: `names` are the groups of each rank by axis, `looks` the frames.

    `colors` maps each axis to the words of the legend; `boxes_of` is the kind of object that so
    many nodes are in other views, "" for none; `node_size` is the input of the GPUs per node,
    which the edge of node 0 changes when it is dragged, "" for none.
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
    edge = [_node_edge(mesh, grid, node_size)] if node_size and grid.head else []
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
        shapes: tuple[Shape, ...] = (*boxes, *cells, *lines, *numbers, *keys, *edge)
        frames.append(Frame(caption=look.caption, shapes=shapes))
    return Scene(
        title="GPUs in their nodes",
        width=WIDTH,
        height=round(grid.height + 26, 1),
        frames=tuple(frames),
        opening=_opening(frames),
        caption="Choose a GPU: what lights up belongs to one of its groups. Step through the "
        "axes, or play."
        + (" Drag the edge of node 0 over a GPU to move it in or out." if edge else ""),
    )


def _node_edge(mesh: Mesh, grid: Grid, node_size: str) -> Shape:
    """Return the handle right of the last GPU of node 0, which takes GPUs in or leaves them."""
    used = min(mesh.gpus_per_node, mesh.world_size)
    last = [*grid.seats(0, used)][-1]
    handle = DragHandle(
        name=node_size,
        key="node-size",
        notch=grid.side,
        label="Edge of node 0",
        now=mesh.gpus_per_node,
        low=1,
        high=max(mesh.world_size, mesh.gpus_per_node),
        text=f"{mesh.gpus_per_node} GPUs on a node",
        steps=1,
    )
    attributes = {
        "x": f"{last.x + last.side - 2:.1f}",
        "y": f"{last.y + 2:.1f}",
        "width": "8",
        "height": f"{max(last.side - 4, 4.0):.1f}",
        "rx": "4",
        "class": "cell c-accent",
        "fill-opacity": "0.85",
        **handle.attributes(),
    }
    return Shape(key="edge", tag="rect", attributes=attributes)


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
    rank_names = names[rank]
    one_axis = look.axis and mesh.world_size <= _TINTS
    shown = [rank_names[look.axis]] if look.axis and one_axis else rank_names.values()
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
