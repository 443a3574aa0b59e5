"""A board of tiles that the reader keeps or drops: rows of operators, a tile for each tensor."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.text import Text
from engine.core.views import Frame, Scene, Shape
from engine.draw.drag_handle import DragHandle

# Read on a phone, where the sheet is half as wide.
_WIDTH, _LETTER, _SMALL, _CHARACTER = 640.0, 19.5, 18.8, 10.9
_ROW, _TILE, _LEFT, _GAP = 47.0, 40.0, 122.0, 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A tensor.

    Attributes:
        key: its own.
        input: that says whether it is kept; empty if the reader cannot change it.
        name: as written on it.
        size: its bytes, as written.
        share: of the largest tile.
        price: what it costs to make again, as written while it is dropped.
        kept: or dropped.
        caption: of its frame.
    """

    key: str
    input: str
    name: str
    size: str
    share: float
    price: str
    kept: bool
    caption: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An operator and the tensors that it leaves behind."""

    name: str
    tiles: tuple[Tile, ...]


def tile_board(title: str, rows: Sequence[Row], caption: Text, help_text: Text) -> Scene:
    """Return the board; its first frame describes all tiles, each further frame a single tile."""
    tiles = [tile for row in rows for tile in row.tiles]

    def frame(now: Tile | None) -> Frame:
        shapes: list[Shape] = []
        for at, row in enumerate(rows):
            shapes += _row(at * _ROW + 4, row, now)
        return Frame(caption=now.caption if now else caption, shapes=tuple(shapes))

    return Scene(
        title=title,
        width=_WIDTH,
        height=len(rows) * _ROW + 6,
        frames=tuple(frame(tile) for tile in (None, *tiles)),
        caption=help_text,
    )


def _row(y: float, row: Row, now: Tile | None) -> list[Shape]:
    shapes = [_text(f"row-{row.tiles[0].key}", 0, y + 26, row.name, "start", "muted", _SMALL)]
    width = (_WIDTH - _LEFT - _GAP * (len(row.tiles) - 1) - 2) / len(row.tiles)
    for at, tile in enumerate(row.tiles):
        left = _LEFT + at * (width + _GAP)
        shapes += _tile(left, y, width, tile, strong=tile is now)
    return shapes


def _tile(left: float, y: float, width: float, tile: Tile, *, strong: bool) -> list[Shape]:
    box = {"x": f"{left:.1f}", "y": f"{y:g}", "width": f"{width:.1f}", "height": f"{_TILE:g}"}
    look = {
        "class": "cell c-activations" + (" done" if strong else ""),
        "fill-opacity": "0.3" if tile.kept else "0.03",
        "rx": "4",
        "data-links": f"tensor:{tile.key}",
    }
    if not tile.kept:
        look["stroke-dasharray"] = "5 4"
    if tile.input:
        look |= _switch(tile).attributes()
    bar = {
        "x": f"{left + 1:.1f}",
        "y": f"{y + _TILE - 5:g}",
        "width": f"{max(2.0, (width - 2) * tile.share):.1f}",
        "height": "4",
        "class": "sent c-activations",
        "fill-opacity": "0.9" if tile.kept else "0",
        "pointer-events": "none",
    }
    said = f"{tile.name} {tile.size}" if tile.kept else f"{tile.name}, again: {tile.price}"
    if len(said) * _CHARACTER > width:  # a narrow tile: its place says which it is
        said = f"+ {tile.price}"
    return [
        Shape(key=f"tile-{tile.key}", tag="rect", attributes=box | look),
        Shape(key=f"bar-{tile.key}", tag="rect", attributes=bar),
        _text(
            f"name-{tile.key}",
            left + width / 2,
            y + 25,
            said,
            "middle",
            "ink" if tile.kept else "muted",
            _LETTER,
        ),
    ]


def _switch(tile: Tile) -> DragHandle:
    return DragHandle(
        name=tile.input,
        key=tile.key,
        notch=0,
        label=f"Keep: {tile.name}",
        now=int(tile.kept),
        high=1,
        text=f"kept, {tile.size}" if tile.kept else f"dropped, again: {tile.price}",
        press="off" if tile.kept else "on",
    )


def _text(key: str, x: float, y: float, text: str, anchor: str, color: str, size: float) -> Shape:
    attributes = {
        "x": f"{x:.1f}",
        "y": f"{y:g}",
        "font-size": f"{size:g}",
        "text-anchor": anchor,
        "class": f"value c-{color}",
    }
    return Shape(key=key, tag="text", attributes=attributes, text=text)
