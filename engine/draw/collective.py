"""A collective as a scene: ranks with their chunks, messages on their way, load of every port."""

import math
from dataclasses import dataclass
from functools import cache

from engine.simulate.trace import Cell, Frame, Trace
from engine.transfer import Transfer
from engine.views import Frame as Picture
from engine.views import Scene, Shape

# Width, height and radii of the circle: a wider sheet where more boxes stand on it.
_FEW = (720.0, 680.0, 262.0, 254.0)
_MANY = (1000.0, 940.0, 430.0, 396.0)
# Two sets of message shapes take turns: while one set is seen, the other is put, unseen, where its
# next messages start, so that no shape is ever seen flying back.
_SETS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """How the chunks of a rank are laid out: cells of `width` by `height` in `columns`."""

    columns: int
    rows: int
    width: float
    height: float
    font: float
    sheet: tuple[float, float, float, float] = _FEW

    @property
    def box(self) -> tuple[float, float]:
        return self.columns * self.width, self.rows * self.height


def _grid(chunks: int, ranks: int) -> _Grid:
    if chunks == 1:
        return _Grid(columns=1, rows=1, width=88, height=44, font=24)
    if ranks <= 4:
        return _Grid(columns=2, rows=-(-chunks // 2), width=58, height=38, font=23)
    if ranks <= 8:
        columns = 4 if chunks > 6 else 3
        return _Grid(columns=columns, rows=-(-chunks // columns), width=45, height=34, font=18.5)
    rows = -(-chunks // 4)
    return _Grid(columns=4, rows=rows, width=32, height=23, font=13.5, sheet=_MANY)


def collective_scene(trace: Trace, *, star: bool = False) -> Scene:
    """Return the run as frames, two for every round: the messages leave, the messages arrive.

    Args:
        trace: a run of at most sixteen ranks.
        star: whether rank 0 stands in the middle.
    """
    grid = _grid(trace.chunks, trace.world_size)
    seats = _seats(trace.world_size, star, grid.sheet)
    slots = max((len(frame.transfers) for frame in trace.frames), default=0)
    pictures = [_picture(trace, seats, grid, slots, 0, arrived=True)]
    for number in range(1, len(trace.frames)):
        pictures.append(_picture(trace, seats, grid, slots, number, arrived=False))
        pictures.append(_picture(trace, seats, grid, slots, number, arrived=True))
    return Scene(
        title=f"{trace.title} all-reduce on {trace.world_size} GPUs"
        if trace.operation == "all_reduce"
        else f"{trace.title} on {trace.world_size} GPUs",
        width=grid.sheet[0],
        height=grid.sheet[1],
        frames=tuple(pictures),
        caption="Each box is a GPU, each cell a chunk with the sum so far; a thick border marks a "
        "finished sum. The bar under a box is what its port has sent.",
    )


def _seats(
    ranks: int, star: bool, sheet: tuple[float, float, float, float]
) -> list[tuple[float, float]]:
    """Return the middle of every rank's box."""
    width, height, across, down = sheet
    around = ranks - 1 if star else ranks
    seats = [
        (
            width / 2 + across * math.sin(2 * math.pi * i / around),
            height / 2 - down * math.cos(2 * math.pi * i / around),
        )
        for i in range(max(around, 1))
    ]
    return [(width / 2, height / 2), *seats] if star else seats


def _picture(
    trace: Trace,
    seats: list[tuple[float, float]],
    grid: _Grid,
    slots: int,
    number: int,
    *,
    arrived: bool,
) -> Picture:
    """Return round `number`: with its messages still at their senders, or at their targets."""
    now = trace.frames[number]
    seen = now if arrived else trace.frames[number - 1]
    shapes: list[Shape] = []
    for which in range(_SETS):
        shapes += _links(trace, seats, slots, number, which)
    for rank, seat in enumerate(seats):
        shapes += _rank(trace, seen, rank, seat, grid)
    for which in range(_SETS):
        shapes += _messages(trace, seats, grid, slots, number, which, arrived)
    return Picture(caption=_caption(trace, number, arrived=arrived), shapes=tuple(shapes))


def _corner(seat: tuple[float, float], grid: _Grid, chunk: int) -> tuple[float, float]:
    width, height = grid.box
    row, column = divmod(chunk, grid.columns)
    return (
        round(seat[0] - width / 2 + column * grid.width, 1),
        round(seat[1] - height / 2 + row * grid.height, 1),
    )


def _rank(
    trace: Trace, frame: Frame, rank: int, seat: tuple[float, float], grid: _Grid
) -> list[Shape]:
    width, height = grid.box
    left, top = round(seat[0] - width / 2, 1), round(seat[1] - height / 2, 1)
    busiest = max(max(trace.frames[-1].sent), 1)
    shapes = [
        _rect(f"b{rank}", left, top - 24, width, height + 38, "rank"),
        _text(f"r{rank}", seat[0], top - 9, 17.0, f"GPU {rank}", "c-ink"),
        _rect(f"p{rank}", left, top + height + 6, width, 7.0, "port"),
        _rect(
            f"s{rank}",
            left,
            top + height + 6,
            round(width * frame.sent[rank] / busiest, 1),
            7.0,
            "sent c-communication",
        ),
    ]
    for chunk in range(trace.chunks):
        x, y = _corner(seat, grid, chunk)
        cell = frame.state[rank][chunk]
        shapes += _cell(f"{rank}.{chunk}", x, y, grid, cell, trace.world_size)
    return shapes


@cache
def _cell(
    key: str, x: float, y: float, grid: _Grid, cell: Cell, world_size: int
) -> tuple[Shape, ...]:
    """Return a cell: fuller color for a fuller sum, a thick border for a finished one."""
    share = len(cell.ranks) / world_size
    done = share == 1
    square = Shape(
        key=f"c{key}",
        tag="rect",
        attributes={
            "x": f"{x + 1.5:g}",
            "y": f"{y + 1.5:g}",
            "width": f"{grid.width - 3:g}",
            "height": f"{grid.height - 3:g}",
            "rx": "2",
            "class": "cell done c-gradients" if done else "cell c-gradients",
            "fill-opacity": f"{0.05 + 0.35 * share:.3f}",
        },
    )
    label = str(cell.value) if cell.ranks else ""
    middle = x + grid.width / 2, y + grid.height / 2 + grid.font * 0.35
    return square, _text(f"t{key}", *middle, grid.font, label, "value c-ink")


@cache
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


@cache
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


def _turn(number: int, which: int) -> int:
    """Return the round whose messages a set of shapes belongs to while round `number` is shown."""
    return number if number % _SETS == which else number + 1


def _transfers(trace: Trace, turn: int) -> tuple[Transfer, ...]:
    return trace.frames[turn].transfers if turn < len(trace.frames) else ()


def _links(
    trace: Trace,
    seats: list[tuple[float, float]],
    slots: int,
    number: int,
    which: int,
) -> list[Shape]:
    turn = _turn(number, which)
    transfers = _transfers(trace, turn)
    shown = turn == number
    return [
        _link(f"l{which}.{slot}", seats, _at(transfers, slot), shown=shown) for slot in range(slots)
    ]


def _at(transfers: tuple[Transfer, ...], slot: int) -> Transfer | None:
    return transfers[slot] if slot < len(transfers) else None


def _link(
    key: str, seats: list[tuple[float, float]], transfer: Transfer | None, *, shown: bool
) -> Shape:
    a = seats[transfer.source] if transfer else (0.0, 0.0)
    b = seats[transfer.target] if transfer else a
    return Shape(
        key=key,
        tag="line",
        attributes={
            "x1": f"{a[0]:.1f}",
            "y1": f"{a[1]:.1f}",
            "x2": f"{b[0]:.1f}",
            "y2": f"{b[1]:.1f}",
            "class": "link c-communication",
            "opacity": "0.55" if transfer and shown else "0",
        },
    )


def _messages(
    trace: Trace,
    seats: list[tuple[float, float]],
    grid: _Grid,
    slots: int,
    number: int,
    which: int,
    arrived: bool,
) -> list[Shape]:
    turn = _turn(number, which)
    transfers, before = _transfers(trace, turn), trace.frames[max(turn - 1, 0)]
    shapes: list[Shape] = []
    for slot in range(slots):
        transfer = _at(transfers, slot)
        if transfer is None:
            shapes += _message(f"{which}.{slot}", (0.0, 0.0), grid, "", "0", "leaving")
            continue
        there = turn == number and arrived
        seat = seats[transfer.target if there else transfer.source]
        value = before.state[transfer.source][transfer.chunk].value
        visible = turn == number and not arrived
        corner = _corner(seat, grid, transfer.chunk)
        kind = "arriving" if there else "leaving"
        fade = "1" if visible else "0"
        shapes += _message(f"{which}.{slot}", corner, grid, str(value), fade, kind)
    return shapes


def _message(
    key: str, corner: tuple[float, float], grid: _Grid, label: str, opacity: str, kind: str
) -> tuple[Shape, Shape]:
    style = f"transform:translate({corner[0]:g}px,{corner[1]:g}px)"
    width, height = grid.width, grid.height
    return (
        Shape(
            key=f"m{key}",
            tag="rect",
            attributes={
                "x": "1.5",
                "y": "1.5",
                "width": f"{width - 3:g}",
                "height": f"{height - 3:g}",
                "rx": f"{height / 2 - 1.5:g}",
                "class": f"message {kind} c-communication",
                "style": style,
                "opacity": opacity,
            },
        ),
        Shape(
            key=f"v{key}",
            tag="text",
            attributes={
                "x": f"{width / 2:g}",
                "y": f"{height / 2 + grid.font * 0.35:g}",
                "font-size": f"{grid.font:g}",
                "text-anchor": "middle",
                "class": f"message-value {kind}",
                "style": style,
                "opacity": opacity,
            },
            text=label,
        ),
    )


def _caption(trace: Trace, number: int, *, arrived: bool) -> str:
    rounds = len(trace.frames) - 1
    if number == 0:
        sums = " + ".join(str(row[0].value) for row in trace.frames[0].state if row[0].ranks)
        total = sum(row[0].value for row in trace.frames[0].state)
        start = "At the start every GPU has its own numbers."
        return f"{start} The first chunk must become {sums} = {total}."
    frame = trace.frames[number]
    everyone = trace.world_size
    done = sum(len(cell.ranks) == everyone for row in frame.state for cell in row)
    cells = everyone * trace.chunks
    if not arrived:
        adds = all(transfer.reduce for transfer in frame.transfers)
        copies = not any(transfer.reduce for transfer in frame.transfers)
        what = "the receiver adds" if adds else "the receiver keeps the finished sum"
        if not adds and not copies:
            what = "some are added on the way up, some are finished sums on the way down"
        count = len(frame.transfers)
        return f"Round {number} of {rounds}: {count} messages leave; {what}."
    load = max(frame.sent) / trace.chunks
    ending = f"The busiest port has sent {load:.3g} times the buffer."
    if number == rounds and done == cells:
        return f"Done in {rounds} rounds: all {cells} cells hold the exact sums. {ending}"
    return f"Round {number} of {rounds} done: {done} of {cells} cells are finished. {ending}"
