"""The shapes of a collective's scene: boxes of chunks, ports, links, messages."""

from dataclasses import replace
from functools import lru_cache

from engine.core.views import Shape
from engine.draw.collective_layout import Grid, Point
from engine.simulate.collectives.collective_trace import ChunkState


def _head_height(grid: Grid) -> float:
    """Return the height of a box's name above its cells."""
    return 28.0 if grid.font > 20 else 24.0


def rank_box(rank: int, seat: Point, grid: Grid) -> list[Shape]:
    """Return the ground of a rank's box, its name and its port."""
    width, height = grid.box
    left, top = grid.corner(seat, 0)
    return [
        _with_rank_link(
            _rect(
                f"b{rank}",
                left,
                top - _head_height(grid),
                width,
                height + _head_height(grid) + 14,
                "rank",
            ),
            rank,
        ),
        _text(f"r{rank}", seat[0], top - 8, 21, f"GPU {rank}", "c-ink"),
        _rect(f"p{rank}", left, top + height + 6, width, 7.0, "port"),
    ]


def switch_box(rank: int, seat: Point, grid: Grid) -> list[Shape]:
    """Return the ground and the name of a switch that adds; it has no port of its own to fill."""
    width, height = grid.box
    left, top = grid.corner(seat, 0)
    return [
        _rect(
            f"b{rank}",
            left,
            top - _head_height(grid),
            width,
            height + _head_height(grid) + 6,
            "rank",
        ),
        _text(f"r{rank}", seat[0], top - 8, 21, "switch", "c-ink"),
    ]


def _with_rank_link(shape: Shape, rank: int) -> Shape:
    return replace(shape, attributes={**shape.attributes, "data-links": f"rank:{rank}"})


def load_bar(rank: int, seat: Point, grid: Grid, share: float) -> Shape:
    """Return the bar of a port's sent bytes, as a share of the longest bar."""
    width, height = grid.box
    left, top = grid.corner(seat, 0)
    kind = "sent c-communication"
    bar = _rect(f"s{rank}", left, top + height + 6, round(width * share, 1), 7.0, kind)
    return _with_rank_link(bar, rank)


def cell_shapes(
    at: tuple[int, int], corner: Point, grid: Grid, cell: ChunkState, fill: tuple[float, bool]
) -> tuple[Shape, Shape]:
    """Return the shapes of the cell of (rank, chunk).

    `fill` is the share of the sum that it holds, for a fuller color, and whether it is finished,
    for a thick border.
    """
    x, y = corner
    share, finished = fill
    key = f"{at[0]}.{at[1]}"
    square = Shape(
        key=f"c{key}",
        tag="rect",
        attributes={
            "x": f"{x + 1.5:g}",
            "y": f"{y + 1.5:g}",
            "width": f"{grid.width - 3:g}",
            "height": f"{grid.height - 3:g}",
            "rx": "2",
            "class": "cell done c-gradients" if finished else "cell c-gradients",
            "fill-opacity": f"{0.05 + 0.35 * share:.3f}",
            "data-links": f"chunk:{at[1]}",
        },
    )
    label = str(cell.value) if cell.ranks and grid.font else ""
    middle = y + grid.height / 2 + grid.font * 0.35
    return square, _text(f"t{key}", x + grid.width / 2, middle, grid.font, label, "value c-ink")


# Most links stay as they are from one frame to the next: then the shape is the same.
@lru_cache(maxsize=4096)
def link_shape(key: str, start: Point, end: Point, *, shown: bool) -> Shape:
    """Return the line between two boxes on which a message travels."""
    return Shape(
        key=f"l{key}",
        tag="line",
        attributes={
            "x1": f"{start[0]:.1f}",
            "y1": f"{start[1]:.1f}",
            "x2": f"{end[0]:.1f}",
            "y2": f"{end[1]:.1f}",
            "class": "link c-communication",
            "opacity": "0.55" if shown else "0",
        },
    )


MessageAttributes = tuple[dict[str, str], dict[str, str]]


def message_attributes(grid: Grid, *, arriving: bool) -> MessageAttributes:
    """Return the shared attributes of leaving or arriving messages: outline and number."""
    kind = "arriving" if arriving else "leaving"
    outline = {
        "x": "1.5",
        "y": "1.5",
        "width": f"{grid.width - 3:g}",
        "height": f"{grid.height - 3:g}",
        "rx": f"{grid.height / 2 - 1.5:g}",
        "class": f"message {kind} c-communication",
    }
    number = {
        "x": f"{grid.width / 2:g}",
        "y": f"{grid.height / 2 + grid.font * 0.35:g}",
        "font-size": f"{grid.font:g}",
        "text-anchor": "middle",
        "class": f"message-value {kind}",
    }
    return outline, number


def message_shapes(
    key: str, corner: Point, alike: MessageAttributes, label: str, *, shown: bool
) -> tuple[Shape, Shape]:
    """Return the shapes of a message over a cell; an arriving one fades."""
    style = f"transform:translate({corner[0]:g}px,{corner[1]:g}px)"
    opacity = "1" if shown else "0"
    outline, number = alike
    outline_attributes = {**outline, "style": style, "opacity": opacity}
    number_attributes = {**number, "style": style, "opacity": opacity}
    return (
        Shape(key=f"m{key}", tag="rect", attributes=outline_attributes),
        Shape(key=f"v{key}", tag="text", attributes=number_attributes, text=label),
    )


def _text(key: str, x: float, y: float, size: float, text: str, kind: str) -> Shape:
    return Shape(
        key=key,
        tag="text",
        attributes={
            "x": f"{x:.1f}",
            "y": f"{y:.1f}",
            "font-size": f"{size:g}",
            "text-anchor": "middle",
            "class": kind,
        },
        text=text,
    )


def _rect(key: str, x: float, y: float, width: float, height: float, kind: str) -> Shape:
    return Shape(
        key=key,
        tag="rect",
        attributes={
            "x": f"{x:g}",
            "y": f"{y:g}",
            "width": f"{width:g}",
            "height": f"{height:g}",
            "class": kind,
        },
    )
