"""Shapes of a sharded step: the flat vector, and the shard of each rank."""

from dataclasses import dataclass
from functools import lru_cache

from engine.core.views import Shape
from engine.draw.shapes import rect, text

# The lines of a rank: what they hold, their letter, their color, and the power of ten shown.
LINES = (
    ("parameters", "p", "parameters", 0),
    ("gradients", "g × 10³", "gradients", 3),
    ("first", "m × 10³", "optimizer", 3),
    ("second", "v × 10⁶", "optimizer", 6),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Layout of the drawing; a column per shard, a block of lines per rank.

    Attributes:
        ranks: that share the vector.
        size: numbers in the vector.
        each: numbers in a share, the last one's padding included.
        place: of each share, which number is shown.
        column: width of a share.
        line: height of a line of numbers.
        font: of the numbers.
    """

    ranks: int
    size: int
    each: int
    place: int
    column: float
    line: float
    font: float

    @property
    def left(self) -> float:
        """The left edge of the columns."""
        return 8.2 * self.font

    @property
    def top(self) -> float:
        """The top edge of the first rank."""
        return 92.0

    @property
    def block(self) -> float:
        """Height of a rank with its port and the space after it."""
        return len(LINES) * self.line + 27

    @property
    def width(self) -> float:
        """Of the drawing."""
        return self.left + self.ranks * self.column + 6

    @property
    def height(self) -> float:
        """Of the drawing, the row of the single GPU included."""
        return self.top + self.ranks * self.block + self.line + 8

    def shown(self, share: int) -> int:
        """Return the index in the vector of the number shown in a column."""
        return share * self.each + self.place


def sheet_for(ranks: int, size: int, index: int) -> Sheet:
    """Return the layout for a number of ranks; few ranks get wide columns."""
    each = -(-size // ranks)
    wide = ranks <= 4
    return Sheet(
        ranks=ranks,
        size=size,
        each=each,
        place=index % each,
        column=max(100.0, 400.0 / ranks) if wide else 78.0,
        line=25.0 if wide else 22.0,
        font=17.0 if wide else 16.0,
    )


def strip_shapes(sheet: Sheet) -> list[Shape]:
    """Return the strip of the whole vector: a cell per number, a color step per owner."""
    scale = sheet.column / sheet.each
    shapes = [text("title", sheet.left, 16, 16, f"one vector of {sheet.size} parameters", "start")]
    for rank in range(sheet.ranks):
        owned = min(sheet.each, max(0, sheet.size - rank * sheet.each))
        left = sheet.left + rank * sheet.column
        box = {"data-links": f"rank:{rank}", "fill-opacity": "0.55" if rank % 2 else "0.3"}
        shapes.append(
            rect(f"own{rank}", (left, 26), (owned * scale, 26), "cell c-data", tuple(box.items()))
        )
        at = left + (sheet.place + 0.5) * scale
        shapes.append(_line(f"at{rank}", (at, 24), (at, 60), "c-ink", 1.5))
        named = f"no. {sheet.shown(rank) + 1}" if sheet.shown(rank) < sheet.size else "padding"
        middle = left + sheet.column / 2
        shapes.append(text(f"no{rank}", middle, 76, 16, named, kind="c-ink"))
    shapes.insert(1, _ticks(sheet, scale))
    return shapes


def _ticks(sheet: Sheet, scale: float) -> Shape:
    path = f"M{sheet.left:.2f} 52" + f"m{scale:.4f}-26v26" * (sheet.size - 1)
    attributes = {"d": path, "stroke": "currentColor", "stroke-width": "0.5", "class": "c-ink"}
    return Shape(key="ticks", tag="path", attributes={**attributes, "opacity": "0.35"})


def rank_shapes(sheet: Sheet, rank: int) -> list[Shape]:
    """Return a rank's name, the letters of its lines, and its port."""
    top = sheet.top + rank * sheet.block
    shapes = [
        Shape(
            key=f"name{rank}",
            tag="text",
            attributes={
                "x": "2",
                "y": f"{top + 0.72 * sheet.line:.1f}",
                "font-size": f"{sheet.font:g}",
                "font-weight": "600",
                "class": "c-ink",
                "data-links": f"rank:{rank}",
            },
            text=f"GPU {rank}",
        )
    ]
    letters = 3.9 * sheet.font
    for number, (_, letter, color, _) in enumerate(LINES):
        y = top + (number + 0.68) * sheet.line
        shapes.append(
            text(f"l{rank}.{number}", letters, y, 0.95 * sheet.font, letter, "start", f"c-{color}")
        )
    y = top + len(LINES) * sheet.line + 4
    size = (sheet.ranks * sheet.column - 3, 6.0)
    shapes.append(rect(f"port{rank}", (sheet.left + 1.5, y), size, "port", ()))
    return shapes


def load_shape(sheet: Sheet, rank: int, share: float) -> Shape:
    """Return the bar of a rank's sent bytes, as a share of the most that any rank sends."""
    y = sheet.top + rank * sheet.block + len(LINES) * sheet.line + 4
    size = ((sheet.ranks * sheet.column - 3) * share, 6.0)
    return rect(f"sent{rank}", (sheet.left + 1.5, y), size, "sent c-communication", ())


@lru_cache(maxsize=4096)
def number_shapes(
    sheet: Sheet, where: tuple[int, int, int], label: str, look: str
) -> tuple[Shape, Shape]:
    """Return the shapes of one number, at (rank, line, column).

    `look` is "held", "new" (changed in this frame), "old" (of no more use) or "none".
    """
    rank, line, column = where
    color = LINES[line][2]
    corner = (
        sheet.left + column * sheet.column + 1.5,
        sheet.top + rank * sheet.block + line * sheet.line + 1,
    )
    opacity = {"held": "0.16", "new": "0.5", "old": "0.03", "none": "0"}[look]
    kind = f"cell done c-{color}" if look == "new" else f"cell c-{color}"
    size = (sheet.column - 3, sheet.line - 2)
    key = f"{rank}.{line}.{column}"
    middle = corner[0] + size[0] / 2
    return (
        rect(f"c{key}", corner, size, kind, (("fill-opacity", opacity),)),
        text(
            f"t{key}",
            middle,
            corner[1] + size[1] / 2 + 0.36 * sheet.font,
            sheet.font,
            label,
            kind="c-muted" if look == "old" else "c-ink",
        ),
    )


def _line(
    key: str, start: tuple[float, float], end: tuple[float, float], kind: str, width: float
) -> Shape:
    attributes = {
        "x1": f"{start[0]:.1f}",
        "y1": f"{start[1]:.1f}",
        "x2": f"{end[0]:.1f}",
        "y2": f"{end[1]:.1f}",
        "stroke": "currentColor",
        "stroke-width": f"{width:g}",
        "class": kind,
    }
    return Shape(key=key, tag="line", attributes=attributes)
