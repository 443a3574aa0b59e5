"""The memories of a machine as shelves, the fastest on top; a tensor is dragged between them."""

from collections.abc import Sequence

from engine.core.text import Text
from engine.core.views import Frame, Scene
from engine.draw.shelf_shapes import (
    FIXED,
    GAP,
    HEAD,
    SHELF,
    WIDTH,
    Chip,
    ChipMemory,
    Shelf,
    chip_memory_shapes,
    chip_shapes,
    shelf_shapes,
    slot,
)


def shelves_scene(
    fixed: Sequence[ChipMemory], shelves: Sequence[Shelf], chips: Sequence[Chip], caption: Text
) -> Scene:
    """Return the shelves from the fastest to the slowest, with the tensors on them.

    The first frame is about all of them, with `caption`, each other one about one tensor.
    """
    ground = [
        shape for at, item in enumerate(fixed) for shape in chip_memory_shapes(at * FIXED, item)
    ]
    top = len(fixed) * FIXED
    columns = tuple(zip(*_columns(chips), strict=True))
    for at, shelf in enumerate(shelves):
        y = top + at * SHELF
        ground += shelf_shapes(y, shelf)
        ground += [
            slot(f"{shelf.key}-{chip.key}", left, y + HEAD, width)
            for chip, (left, width) in zip(chips, columns, strict=True)
        ]

    def frame(now: Chip | None) -> Frame:
        shapes = [
            shape
            for chip, (left, width) in zip(chips, columns, strict=True)
            for shape in chip_shapes(top, chip, (left, width), shelves, strong=chip is now)
        ]
        return Frame(caption=now.caption if now else caption, shapes=(*ground, *shapes))

    return Scene(
        title="Which tensor lives where",
        width=WIDTH,
        height=top + len(shelves) * SHELF,
        frames=tuple(frame(item) for item in (None, *chips)),
        caption="Drag a tensor up or down, or move it with the arrow keys. The line under a "
        "memory shows how full it is. On the chip lies the tile of one matrix product; its program "
        "put it there, so it cannot be dragged.",
    )


def _columns(chips: Sequence[Chip]) -> tuple[list[float], list[float]]:
    """Return left ends and widths: every column as wide as its longest word."""
    letters = [max(len(chip.name), len(chip.size), 7) + 1 for chip in chips]
    room = (WIDTH - (len(chips) - 1) * GAP) / sum(letters)
    widths = [room * count for count in letters]
    lefts = [sum(widths[:at]) + at * GAP for at in range(len(chips))]
    return lefts, widths
