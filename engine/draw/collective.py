"""Scenes of collectives: ranks with chunks, messages in flight, load of each port."""

from dataclasses import dataclass

from engine.core.slices import Slices, run_to_end, step_progress
from engine.core.views import Frame, Scene, Shape
from engine.draw.collective_captions import ADDING, ExpectedCells, caption
from engine.draw.collective_layout import Grid, Point, grid_of, seats_of, slots_of
from engine.draw.collective_shapes import (
    cell_shapes,
    link_shape,
    load_bar,
    message_attributes,
    message_shapes,
    rank_box,
    switch_box,
)
from engine.simulate.collectives.collective_execution import OPERATION_NAMES, expected_cell
from engine.simulate.collectives.collective_trace import ChunkState, CollectiveTrace

# Two sets of message shapes take turns: while one set is seen, the other is put, unseen, where its
# next messages start, so that no shape is ever seen flying back.
_MESSAGE_SETS = 2
Shapes = tuple[list[Shape], list[Shape]]


def collective_scene(trace: CollectiveTrace, *, star: bool = False) -> Scene:
    """Return the run as frames, at once; see `collective_drawing`."""
    return run_to_end(collective_drawing(trace, star=star))


def collective_drawing(trace: CollectiveTrace, *, star: bool = False) -> Slices[Scene]:
    """Draw the run as frames, two for every round: the messages leave, the messages arrive.

    Args:
        trace: a run of at most sixteen ranks.
        star: whether rank 0 stands in the middle.
    """
    slots = slots_of(trace)
    ranks = range(trace.world_size)
    grid = grid_of(max(map(len, slots)), trace.world_size)
    sheet = _Layout(
        trace=trace,
        grid=grid,
        seats=seats_of(trace, star, grid),
        slots=slots,
        owed={
            (rank, chunk): cell
            for rank in ranks
            for chunk in slots[rank]
            if (cell := expected_cell(trace, rank, chunk)) is not None
        },
    )
    frames = yield from _frames(sheet)
    name = OPERATION_NAMES[trace.operation]
    suffix = "" if name in trace.title.lower() else f" {name}"
    return Scene(
        title=f"{trace.title}{suffix} on {trace.world_size} GPUs",
        width=grid.sheet[0],
        height=grid.sheet[1],
        frames=tuple(frames),
        opening=min(1, 2 * (len(trace.frames) - 1)),
        caption="Each box is a GPU, each cell a chunk with the sum so far; a thick border marks a "
        "finished sum. The bar under a box is what its port has sent."
        if trace.operation in ADDING
        else "Each box is a GPU, each cell a chunk; a thick border marks one that has arrived "
        "where it belongs. The bar under a box is what its port has sent.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """The fixed parts of a run's frames: positions, chunk slots, expected cells."""

    trace: CollectiveTrace
    grid: Grid
    seats: list[Point]
    slots: list[dict[int, int]]
    owed: ExpectedCells

    def corner(self, node: int, chunk: int) -> Point:
        return self.grid.corner(self.seats[node], self.slots[node][chunk])

    def cell(self, node: int, chunk: int, cell: ChunkState) -> tuple[Shape, Shape]:
        adds = self.trace.operation in ADDING
        share = len(cell.ranks) / self.trace.world_size if adds else min(len(cell.ranks), 1)
        fill = share, self.owed.get((node, chunk)) == cell
        return cell_shapes((node, chunk), self.corner(node, chunk), self.grid, cell, fill)


def _frames(sheet: _Layout) -> Slices[list[Frame]]:
    """Return all frames; shapes that a round leaves unchanged are shared."""
    trace, grid, seats = sheet.trace, sheet.grid, sheet.seats
    ranks = trace.world_size
    busiest = max(*trace.frames[-1].sent[:ranks], 1)
    ground = [
        shape
        for node, seat in enumerate(seats)
        for shape in (rank_box if node < ranks else switch_box)(node, seat, grid)
    ]
    loads = [load_bar(rank, seat, grid, 0.0) for rank, seat in enumerate(seats[:ranks])]
    first = trace.frames[0]
    cells = {
        (node, chunk): sheet.cell(node, chunk, first.state[node][chunk])
        for node, slots in enumerate(sheet.slots)
        for chunk in slots
    }
    frames = []
    traffic = _Traffic(sheet)
    for number, now in enumerate(trace.frames):
        yield step_progress(number, len(trace.frames), "Round")
        for arrived in (False, True) if number else (True,):
            for transfer in now.transfers if arrived else ():
                at = transfer.target, transfer.chunk
                cells[at] = sheet.cell(*at, now.state[transfer.target][transfer.chunk])
                if transfer.source < ranks:
                    share = now.sent[transfer.source] / busiest
                    loads[transfer.source] = load_bar(
                        transfer.source, seats[transfer.source], grid, share
                    )
            links, messages = traffic.at(number, arrived=arrived)
            flat = [shape for pair in cells.values() for shape in pair]
            frames.append(
                Frame(
                    caption=caption(trace, sheet.owed, number, arrived=arrived),
                    shapes=(*links, *ground, *loads, *flat, *messages),
                )
            )
    return frames


class _Traffic:
    """Link and message shapes frame by frame; unchanged shapes are shared."""

    def __init__(self, sheet: _Layout) -> None:
        self._sheet = sheet
        self._slots = max(len(frame.transfers) for frame in sheet.trace.frames)
        self._leaving, self._arriving = (
            message_attributes(sheet.grid, arriving=arriving) for arriving in (False, True)
        )
        self._latest: dict[int, tuple[tuple[int, bool, bool], Shapes]] = {}
        nowhere = (0.0, 0.0)
        self._unused = {
            key: (
                link_shape(key, nowhere, nowhere, shown=False),
                message_shapes(key, nowhere, self._leaving, "", shown=False),
            )
            for key in (
                f"{which}.{slot}" for which in range(_MESSAGE_SETS) for slot in range(self._slots)
            )
        }

    def at(self, number: int, *, arrived: bool) -> Shapes:
        """Return the links and the messages while round `number` is shown."""
        links: list[Shape] = []
        messages: list[Shape] = []
        for which in range(_MESSAGE_SETS):
            turn = number if number % _MESSAGE_SETS == which else number + 1
            state = turn, turn == number, turn == number and arrived
            kept = self._latest.get(which)
            if kept is None or kept[0] != state:
                kept = self._latest[which] = state, self._set(which, *state)
            links += kept[1][0]
            messages += kept[1][1]
        return links, messages

    def _set(self, which: int, turn: int, shown: bool, there: bool) -> Shapes:
        sheet, frames = self._sheet, self._sheet.trace.frames
        transfers = frames[turn].transfers if turn < len(frames) else ()
        before = frames[max(turn - 1, 0)].state
        alike = self._arriving if there else self._leaving
        links: list[Shape] = []
        messages: list[Shape] = []
        for slot, transfer in enumerate(transfers):
            key = f"{which}.{slot}"
            ends = sheet.seats[transfer.source], sheet.seats[transfer.target]
            links.append(link_shape(key, *ends, shown=shown))
            corner = sheet.corner((transfer.source, transfer.target)[there], transfer.chunk)
            label = str(before[transfer.source][transfer.chunk].value) if sheet.grid.font else ""
            messages += message_shapes(key, corner, alike, label, shown=shown and not there)
        for slot in range(len(transfers), self._slots):
            link, message = self._unused[f"{which}.{slot}"]
            links.append(link)
            messages += message
        return links, messages
