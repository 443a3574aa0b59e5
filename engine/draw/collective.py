"""Scenes of collectives: ranks with chunks, messages in flight, load of each port."""

from dataclasses import dataclass, replace
from functools import lru_cache

from engine.core.message import Transfer
from engine.core.slices import Slices, run_to_end, step_progress
from engine.core.views import Frame, Scene, Shape
from engine.draw.collective_layout import Grid, Point, grid_of, seats_of, slots_of
from engine.simulate.collectives.collective_execution import OPERATION_NAMES, expected_cell
from engine.simulate.collectives.collective_trace import ChunkState, CollectiveTrace

# Captions of a collective's frames, also for screen readers.

ExpectedCells = dict[tuple[int, int], ChunkState]

_START_CAPTIONS = {
    "all_gather": "At the start every GPU has one chunk. All must end with all chunks.",
    "gather": "At the start every GPU has one chunk. GPU 0 must end with all of them.",
    "broadcast": "At the start only GPU 0 has the buffer. All must end with it.",
    "scatter": "At the start only GPU 0 has the buffer. Every GPU must end with its own chunk.",
    "all_to_all": "At the start every GPU has a block for every other. Each must end with the "
    "blocks that are meant for it.",
}
ADDING = ("all_reduce", "reduce_scatter", "reduce")


def caption(trace: CollectiveTrace, owed: ExpectedCells, number: int, *, arrived: bool) -> str:
    """Return the caption of round `number`, before or after its messages arrive."""
    rounds = len(trace.frames) - 1
    frame = trace.frames[number]
    if number == 0:
        return _start_caption(trace)
    if not arrived:
        count = len(frame.transfers)
        messages = "1 message leaves" if count == 1 else f"{count} messages leave"
        return f"Round {number} of {rounds}: {messages}; {_action_text(trace, frame.transfers)}."
    done = sum(frame.state[rank][chunk] == cell for (rank, chunk), cell in owed.items())
    sent = max(frame.sent[: trace.world_size]) / trace.buffer_chunks
    ending = f"The busiest port has sent {sent:.3g} times the buffer."
    if number == rounds and done == len(owed):
        rounds_of = "1 round" if rounds == 1 else f"{rounds} rounds"
        hold = "the exact sums" if trace.operation in ADDING else "what they should"
        return f"Done in {rounds_of}: all {done} cells hold {hold}. {ending}"
    return f"Round {number} of {rounds} done: {done} of {len(owed)} cells are finished. {ending}"


def _start_caption(trace: CollectiveTrace) -> str:
    if trace.operation in _START_CAPTIONS:
        return _START_CAPTIONS[trace.operation]
    parts = [row[0].value for row in trace.frames[0].state if row[0].ranks]
    sums = " + ".join(map(str, parts))
    start = "At the start every GPU has its own numbers."
    return f"{start} The first chunk must become {sums} = {sum(parts)}."


def _action_text(trace: CollectiveTrace, transfers: tuple[Transfer, ...]) -> str:
    switch = trace.world_size
    if any(transfer.target == switch for transfer in transfers):
        return "the switch adds" if transfers[0].reduce else "the switch takes the finished sums"
    if any(transfer.source == switch for transfer in transfers):
        return "the switch hands out sums"
    if all(transfer.reduce for transfer in transfers):
        return "the receiver adds"
    if any(transfer.reduce for transfer in transfers):
        return "some are added on the way up, some are finished sums on the way down"
    if trace.operation == "all_reduce":
        return "the receiver keeps the finished sum"
    return "the receiver keeps a copy"


# The shapes of a collective's scene: boxes of chunks, ports, links, messages.


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
