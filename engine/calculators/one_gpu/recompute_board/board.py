"""The board itself, the table of its tensors, and the verdict."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.calculators.one_gpu.recompute_board.result import NAMES, Inputs, Result
from engine.catalog.models import MODELS
from engine.core.numbers import format_value
from engine.core.outputs import Presenter
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, OPERATIONS
from engine.core.views import Badge, Frame, Scene, Shape, Table
from engine.draw.drag_handle import DragHandle
from engine.form.memory_fit import fit_badge
from engine.simulate.memory.memory_over_step import ANCHOR, SavedTensor

# A board of tiles that the reader keeps or drops: rows of operators, a tile for each tensor.

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
        shapes += _tile_shape(left, y, width, tile, strong=tile is now)
    return shapes


def _tile_shape(left: float, y: float, width: float, tile: Tile, *, strong: bool) -> list[Shape]:
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
    label = f"{tile.name} {tile.size}" if tile.kept else f"{tile.name}, again: {tile.price}"
    if len(label) * _CHARACTER > width:  # a narrow tile: its place says which it is
        label = f"+ {tile.price}"
    return [
        Shape(key=f"tile-{tile.key}", tag="rect", attributes=box | look),
        Shape(key=f"bar-{tile.key}", tag="rect", attributes=bar),
        _text(
            f"name-{tile.key}",
            left + width / 2,
            y + 25,
            label,
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


_ROWS = (
    ("input", (ANCHOR,)),
    ("norm", ("normed",)),
    ("q, k, v", ("query", "key", "value")),
    ("positions", ("rotated",)),
    ("softmax", ("softmax", "score_mask", "dropped_scores")),
    ("attention", ("attended", "normalizer", "output_mask")),
    ("output, +", ("middle",)),
    ("norm", ("normed_2",)),
    ("gate, up", ("gate", "up")),
    ("up", ("inner",)),
    ("SiLU, ×", ("product", "mlp_mask")),
)


def board(result: Result) -> Scene:
    """Return the layer with every saved tensor as a tile."""
    by_key = {tensor.key: tensor for tensor in result.job.layer.tensors}
    largest = max(tensor.size for tensor in by_key.values())
    rows = []
    for name, keys in _ROWS:
        tiles = tuple(_tile(result, by_key[key], largest) for key in keys if key in by_key)
        if tiles:
            is_gelu = name == "SiLU, ×" and "inner" in by_key
            rows.append(Row(name="GELU" if is_gelu else name, tiles=tiles))
    return tile_board(
        "What one layer saves for its backward pass",
        rows,
        _summary(result),
        "Choose a tile to drop the tensor or keep it again. The bar in a tile is its size beside "
        "the largest. A dropped tile shows what making it again costs.",
    )


def _summary(result: Result) -> Text:
    layer = result.job.layer
    return say(
        "One layer keeps {k} of {e}, all layers {a}. {o} of each layer run again.",
        k=(result.kept_layer, BYTES),
        e=(layer.size, BYTES),
        a=(result.kept, BYTES),
        o=(result.again, OPERATIONS),
    )


def _tile(result: Result, tensor: SavedTensor, largest: float) -> Tile:
    cost = result.job.layer.operations[tensor.operator]
    price = format_value(cost, OPERATIONS) if cost else "cheap"
    return Tile(
        key=tensor.key,
        input="" if tensor.key == ANCHOR else f"keep_{tensor.key}",
        name=NAMES[tensor.key][1],
        size=format_value(tensor.size, BYTES),
        share=tensor.size / largest,
        price=price,
        kept=tensor.key not in result.gone,
        caption=_tensor_caption(result, tensor),
    )


def _tensor_caption(result: Result, tensor: SavedTensor) -> Text:
    cost = result.job.layer.operations[tensor.operator]
    name = NAMES[tensor.key][0]
    words = f"{name[0].upper()}{name[1:]}: {{s}} in every layer, {{a}} in all. "
    if tensor.key == ANCHOR:
        words += "From here the layer can be made again, so it always stays."
    elif cost:
        words += "Its operator computes {o} in every layer."
    else:
        words += "Its operator only passes over memory."
    return say(
        words,
        s=(tensor.size, BYTES),
        a=(result.layers * tensor.size, BYTES),
        o=(cost, OPERATIONS),
    )


def change_notes(inputs: Inputs) -> tuple[Text, ...]:
    """Return the notes on inputs that were adjusted and on settings that no software runs."""
    sentences: list[Text] = []
    tensor, heads = inputs.tensor_parallel, MODELS[inputs.model].num_attention_heads
    if tensor > inputs.world_size:
        sentences.append(say("Computed on {t} GPUs, one for each tensor rank.", t=(tensor, COUNT)))
    if heads % tensor:
        words = "{t} tensor ranks do not divide the {h} attention heads; no software runs this."
        sentences.append(say(words, t=(tensor, COUNT), h=(heads, COUNT)))
    return tuple(sentences)


def fits_badge(present: Presenter, result: Result) -> Badge:
    """Return whether the step fits."""
    if result.fixed > result.usable:
        words = "The states alone need {fixed}; {usable} may be filled. Use more GPUs."
        return Badge(text="Out of memory", sentence=present.say(words), color="buffers")
    return fit_badge(result.fit, "The peak")


def tensor_table(result: Result) -> Table:
    """Return every tensor with its bytes, its price, and the bytes that an operation buys."""
    layer = result.job.layer
    return Table(
        title="Every saved tensor, and what dropping it costs",
        columns=("Tensor", "One layer", "All layers", "Made again"),
        rows=tuple(
            (
                NAMES[tensor.key][0] + (" (dropped)" if tensor.key in result.gone else ""),
                say("{s}", s=(tensor.size, BYTES)),
                say("{s}", s=(result.layers * tensor.size, BYTES)),
                _recompute_cost(layer.operations[tensor.operator], tensor.key),
            )
            for tensor in layer.tensors
        ),
        caption="Operations are those of one layer, forward. Cheap: one pass over memory.",
        links=tuple((f"tensor:{tensor.key}",) for tensor in layer.tensors),
    )


def _recompute_cost(cost: float, key: str) -> Text:
    if key == ANCHOR:
        return "stays"
    return say("{o}", o=(cost, OPERATIONS)) if cost else "cheap"
