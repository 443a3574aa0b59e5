"""Layout of a collective's scene: positions of boxes and of chunks within them."""

import math
from dataclasses import dataclass

from engine.simulate.collectives.collective_trace import CollectiveTrace

Point = tuple[float, float]

# Width, height and radii: a wider sheet where more boxes stand on it.
_SMALL_SHEET = (720.0, 680.0, 262.0, 254.0)
_LARGE_SHEET = (1000.0, 940.0, 430.0, 396.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Cell layout of a rank's box: cells of `width` by `height` in `columns`.

    `sheet` is the width and height of the drawing and the two radii of the ellipse of boxes; a
    `font` of 0 leaves the numbers out. With a `bend` above 1 the boxes beside the top and the
    bottom one stand nearer to the middle, so that wide boxes leave room for arrows.
    """

    columns: int
    rows: int
    width: float
    height: float
    font: float
    sheet: tuple[float, float, float, float]
    bend: float = 1.0

    @property
    def box(self) -> Point:
        """Width and height of all cells of a rank."""
        return self.columns * self.width, self.rows * self.height

    def corner(self, seat: Point, slot: int) -> Point:
        """Return the upper left corner of a cell in the box centered at `seat`."""
        width, height = self.box
        row, column = divmod(slot, self.columns)
        x, y = seat[0] - width / 2 + column * self.width, seat[1] - height / 2 + row * self.height
        return round(x, 1), round(y, 1)


def grid_of(cells: int, ranks: int) -> Grid:
    """Return the layout for at most `cells` cells in each of `ranks` boxes."""
    if cells == 1:
        return Grid(columns=1, rows=1, width=88, height=44, font=24, sheet=_SMALL_SHEET)
    if ranks <= 4:
        rows = -(-cells // 2)
        return Grid(columns=2, rows=rows, width=58, height=38, font=23, sheet=_SMALL_SHEET)
    if ranks <= 8 and cells > 10:
        return Grid(
            columns=5,
            rows=-(-cells // 5),
            width=34,
            height=26,
            font=14,
            sheet=_SMALL_SHEET,
            bend=1.5,
        )
    if ranks <= 8:
        columns = 4 if cells > 6 else 3
        rows = -(-cells // columns)
        bend = 2.0 if ranks == 8 else 1.5
        return Grid(
            columns=columns, rows=rows, width=45, height=34, font=21, sheet=_SMALL_SHEET, bend=bend
        )
    if cells > 16:
        return Grid(columns=8, rows=-(-cells // 8), width=16, height=18, font=0, sheet=_LARGE_SHEET)
    return Grid(columns=4, rows=-(-cells // 4), width=32, height=23, font=13.5, sheet=_LARGE_SHEET)


def slots_of(trace: CollectiveTrace) -> list[dict[int, int]]:
    """Return for every node the slot of each chunk in its box.

    In an all-to-all those are the blocks that it ever holds; else all chunks.
    """
    nodes = range(len(trace.frames[0].state))
    if trace.operation != "all_to_all":
        return [{chunk: chunk for chunk in range(trace.chunks)} for _ in nodes]
    shown_chunks: list[set[int]] = [
        {chunk for chunk, cell in enumerate(row) if cell.ranks} for row in trace.frames[0].state
    ]
    for frame in trace.frames:
        for transfer in frame.transfers:
            shown_chunks[transfer.target].add(transfer.chunk)
    return [{chunk: slot for slot, chunk in enumerate(sorted(chunks))} for chunks in shown_chunks]


def seats_of(trace: CollectiveTrace, star: bool, grid: Grid) -> list[Point]:
    """Return the center of every box; rank 0 of a star, or a switch, is in the middle."""
    width, height, across, down = grid.sheet
    ranks = trace.world_size
    around = max(ranks - 1 if star else ranks, 1)
    turns = [2 * math.pi * i / around for i in range(around)]
    bend = grid.bend if around == ranks else min(grid.bend, 1.5)  # seven stand farther apart
    seats = [
        (
            width / 2 + across * math.sin(turn),
            height / 2 - down * math.copysign(abs(math.cos(turn)) ** bend, math.cos(turn)),
        )
        for turn in turns
    ]
    middle = [(width / 2, height / 2)]
    if star:
        return middle + seats
    return seats + middle * (len(trace.frames[0].state) - ranks)
