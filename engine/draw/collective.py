"""A collective as a scene: ranks with their chunks, messages on their way, load of every port."""

import math

from engine.draw.collective_shapes import (
    Grid,
    Point,
    cell_shapes,
    link_shape,
    load,
    message_shapes,
    rank_box,
)
from engine.simulate.trace import Trace
from engine.transfer import Transfer
from engine.views import Frame, Scene, Shape

# Width, height and radii: a wider sheet where more boxes stand on it.
_FEW = (720.0, 680.0, 262.0, 254.0)
_MANY = (1000.0, 940.0, 430.0, 396.0)
# Two sets of message shapes take turns: while one set is seen, the other is put, unseen, where its
# next messages start, so that no shape is ever seen flying back.
_SETS = 2


def collective_scene(trace: Trace, *, star: bool = False) -> Scene:
    """Return the run as frames, two for every round: the messages leave, the messages arrive.

    Args:
        trace: a run of at most sixteen ranks.
        star: whether rank 0 stands in the middle.
    """
    grid = _grid(trace.chunks, trace.world_size)
    seats = _seats(trace.world_size, star, grid.sheet)
    suffix = " all-reduce" if trace.operation == "all_reduce" else ""
    return Scene(
        title=f"{trace.title}{suffix} on {trace.world_size} GPUs",
        width=grid.sheet[0],
        height=grid.sheet[1],
        frames=tuple(_frames(trace, seats, grid)),
        caption="Each box is a GPU, each cell a chunk with the sum so far; a thick border marks a "
        "finished sum. The bar under a box is what its port has sent.",
    )


def _grid(chunks: int, ranks: int) -> Grid:
    if chunks == 1:
        return Grid(columns=1, rows=1, width=88, height=44, font=24, sheet=_FEW)
    if ranks <= 4:
        rows = -(-chunks // 2)
        return Grid(columns=2, rows=rows, width=58, height=38, font=23, sheet=_FEW)
    if ranks <= 8:
        columns = 4 if chunks > 6 else 3
        rows = -(-chunks // columns)
        return Grid(columns=columns, rows=rows, width=45, height=34, font=18.5, sheet=_FEW)
    return Grid(columns=4, rows=-(-chunks // 4), width=32, height=23, font=13.5, sheet=_MANY)


def _seats(ranks: int, star: bool, sheet: tuple[float, float, float, float]) -> list[Point]:
    """Return the middle of every rank's box."""
    width, height, across, down = sheet
    around = max(ranks - 1 if star else ranks, 1)
    seats = [
        (
            width / 2 + across * math.sin(2 * math.pi * i / around),
            height / 2 - down * math.cos(2 * math.pi * i / around),
        )
        for i in range(around)
    ]
    return [(width / 2, height / 2), *seats] if star else seats


def _frames(trace: Trace, seats: list[Point], grid: Grid) -> list[Frame]:
    """Return all frames; what a round leaves as it was is the very same shape as before."""
    busiest = max(*trace.frames[-1].sent, 1)
    first = trace.frames[0]
    ground = [shape for rank, seat in enumerate(seats) for shape in rank_box(rank, seat, grid)]
    loads = [load(rank, seat, grid, 0.0) for rank, seat in enumerate(seats)]
    cells = {
        (rank, chunk): cell_shapes(
            f"{rank}.{chunk}", grid.corner(seat, chunk), grid, first.state[rank][chunk], len(seats)
        )
        for rank, seat in enumerate(seats)
        for chunk in range(trace.chunks)
    }
    frames = []
    for number, now in enumerate(trace.frames):
        for arrived in (False, True) if number else (True,):
            if arrived:
                for one in now.transfers:
                    corner = grid.corner(seats[one.target], one.chunk)
                    cells[one.target, one.chunk] = cell_shapes(
                        f"{one.target}.{one.chunk}",
                        corner,
                        grid,
                        now.state[one.target][one.chunk],
                        len(seats),
                    )
                    share = now.sent[one.source] / busiest
                    loads[one.source] = load(one.source, seats[one.source], grid, share)
            links, messages = _traffic(trace, seats, grid, number, arrived=arrived)
            flat = [shape for pair in cells.values() for shape in pair]
            frames.append(
                Frame(
                    caption=_caption(trace, number, arrived=arrived),
                    shapes=(*links, *ground, *loads, *flat, *messages),
                )
            )
    return frames


def _traffic(
    trace: Trace, seats: list[Point], grid: Grid, number: int, *, arrived: bool
) -> tuple[list[Shape], list[Shape]]:
    """Return the links and messages of both sets while round `number` is shown."""
    slots = max(len(frame.transfers) for frame in trace.frames)
    links: list[Shape] = []
    messages: list[Shape] = []
    for which in range(_SETS):
        turn = number if number % _SETS == which else number + 1
        transfers = trace.frames[turn].transfers if turn < len(trace.frames) else ()
        before = trace.frames[max(turn - 1, 0)].state
        there = turn == number and arrived
        for slot in range(slots):
            key = f"{which}.{slot}"
            if slot >= len(transfers):
                links.append(link_shape(key, (0.0, 0.0), (0.0, 0.0), shown=False))
                messages += message_shapes(key, (0.0, 0.0), grid, "", shown=False, arriving=False)
                continue
            one = transfers[slot]
            ends = seats[one.source], seats[one.target]
            links.append(link_shape(key, *ends, shown=turn == number))
            messages += message_shapes(
                key,
                grid.corner(ends[there], one.chunk),
                grid,
                str(before[one.source][one.chunk].value),
                shown=turn == number and not arrived,
                arriving=there,
            )
    return links, messages


def _caption(trace: Trace, number: int, *, arrived: bool) -> str:
    rounds = len(trace.frames) - 1
    if number == 0:
        parts = [row[0].value for row in trace.frames[0].state if row[0].ranks]
        sums = " + ".join(map(str, parts))
        start = "At the start every GPU has its own numbers."
        return f"{start} The first chunk must become {sums} = {sum(parts)}."
    frame = trace.frames[number]
    if not arrived:
        count = len(frame.transfers)
        return f"Round {number} of {rounds}: {count} messages leave; {_what(frame.transfers)}."
    everyone = trace.world_size
    done = sum(len(cell.ranks) == everyone for row in frame.state for cell in row)
    cells = everyone * trace.chunks
    ending = f"The busiest port has sent {max(frame.sent) / trace.chunks:.3g} times the buffer."
    if number == rounds and done == cells:
        return f"Done in {rounds} rounds: all {cells} cells hold the exact sums. {ending}"
    return f"Round {number} of {rounds} done: {done} of {cells} cells are finished. {ending}"


def _what(transfers: tuple[Transfer, ...]) -> str:
    if all(transfer.reduce for transfer in transfers):
        return "the receiver adds"
    if not any(transfer.reduce for transfer in transfers):
        return "the receiver keeps the finished sum"
    return "some are added on the way up, some are finished sums on the way down"
