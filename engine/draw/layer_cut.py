"""The layers of a model as one strip that boundaries cut into stages, and what each stage costs."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.text import Text
from engine.core.views import Frame, Scene, Shape
from engine.draw.drag_handle import Grip
from engine.draw.shapes import rect, text

_WIDTH, _FONT = 460.0, 16.0
_LEFT, _TOP, _STRIP = 14.0, 26.0, 44.0
_ROWS, _LINE = 110.0, 44.0
_TIME, _MEMORY, _BAR = 132.0, 304.0, 148.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A stage.

    Attributes:
        layers: that it holds.
        ends: what else, in a word.
        time, memory: as written.
        time_share: of the slowest stage's time.
        memory_share: of what can be used.
        slowest: no other stage takes longer.
    """

    layers: int
    ends: str
    time: str
    memory: str
    time_share: float
    memory_share: float
    slowest: bool


def cut_strip(
    rows: Sequence[Row], ends: tuple[float, float], grips: Sequence[Grip], caption: Text
) -> Scene:
    """Return the strip and a row for each stage.

    Args:
        rows: the stages in order.
        ends: time of the embedding and of the output layer, over that of one layer.
        grips: of the boundaries, one fewer than stages.
        caption: what the frame shows.
    """
    layers = sum(row.layers for row in rows)
    each = layer_width(layers, ends)
    shapes = _strip(rows, ends, each)
    at = _LEFT + ends[0] * each
    for boundary, grip in enumerate(grips):
        at += rows[boundary].layers * each
        shapes.append(_grip(at, grip))
    for stage, row in enumerate(rows):
        shapes += _row(stage, row)
    return Scene(
        title="The model as a strip of layers",
        width=_WIDTH,
        height=_ROWS + len(rows) * _LINE + 4,
        frames=(Frame(caption=caption, shapes=tuple(shapes)),),
        caption="Widths are times of one micro-batch: the embedding at the left end, the output "
        "layer at the right. Drag a handle to move layers over a boundary.",
    )


def layer_width(layers: int, ends: tuple[float, float]) -> float:
    """Return how wide one layer is drawn."""
    return (_WIDTH - 2 * _LEFT) / (layers + sum(ends))


def _strip(rows: Sequence[Row], ends: tuple[float, float], each: float) -> list[Shape]:
    found: list[Shape] = [text("model", _LEFT, 17, _FONT, "embedding", "start", "c-muted")]
    found.append(text("output", _WIDTH - _LEFT, 17, _FONT, "output layer", "end", "c-muted"))
    at = _LEFT
    last = len(rows) - 1
    for stage, row in enumerate(rows):
        wide = row.layers * each
        wide += ends[0] * each * (stage == 0) + ends[1] * each * (stage == last)
        look = (("fill-opacity", "0.5" if stage % 2 else "0.28"),)
        found.append(rect(f"stage{stage}", (at, _TOP), (wide, _STRIP), "cell c-pipeline", look))
        at += wide
    marks = (
        ("first", _LEFT, ends[0] * each),
        ("last", _WIDTH - _LEFT - ends[1] * each, ends[1] * each),
    )
    for key, left, wide in marks:
        look = (("fill-opacity", "0.75"),)
        found.append(rect(key, (left, _TOP), (wide, _STRIP), "cell c-parameters", look))
    layers = sum(row.layers for row in rows)
    ticks = "".join(
        f"M{_LEFT + (ends[0] + i) * each:.1f} {_TOP:g}v{_STRIP:g}" for i in range(layers + 1)
    )
    attributes = {"d": ticks, "stroke": "currentColor", "stroke-width": "0.5", "opacity": "0.35"}
    return [*found, Shape(key="ticks", tag="path", attributes={**attributes, "class": "c-ink"})]


def _grip(x: float, grip: Grip) -> Shape:
    attributes = {
        "x": f"{x - 6:.1f}",
        "y": f"{_TOP - 6:g}",
        "width": "12",
        "height": f"{_STRIP + 12:g}",
        "rx": "6",
        "class": "cell c-accent",
        "fill-opacity": "0.85",
        **grip.attributes(),
    }
    return Shape(key=f"grip-{grip.name}", tag="rect", attributes=attributes)


def _row(stage: int, row: Row) -> list[Shape]:
    top = _ROWS + stage * _LINE
    link = (("data-links", f"stage:{stage}"),)
    color = "communication" if row.memory_share > 1 else "optimizer"
    name = f"stage {stage}"
    noun = "layer" if row.layers == 1 else "layers"
    held = f"{row.layers} {noun}{row.ends}"
    full = "cell done c-compute" if row.slowest else "cell c-compute"
    time = (("fill-opacity", "0.75"), *link)
    found = [
        text(f"name{stage}", 4, top + 12, _FONT, name, "start"),
        text(f"held{stage}", 4, top + 31, 15, held, "start", "c-muted"),
        text(f"time{stage}", _TIME, top + 12, _FONT, row.time, "start"),
        text(f"full{stage}", _MEMORY, top + 12, _FONT, row.memory, "start"),
        rect(f"timeroom{stage}", (_TIME, top + 18), (_BAR, 14), "port", ()),
        rect(f"timebar{stage}", (_TIME, top + 18), (row.time_share * _BAR, 14), full, time),
        rect(f"memoryroom{stage}", (_MEMORY, top + 18), (_BAR, 14), "port", ()),
    ]
    share = min(row.memory_share, 1.0)
    size = (share * _BAR, 14.0)
    look = (("fill-opacity", "0.6"), *link)
    return [*found, rect(f"memory{stage}", (_MEMORY, top + 18), size, f"cell c-{color}", look)]
