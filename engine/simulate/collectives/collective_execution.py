"""Executes a collective on small integers, and records who holds what after every round.

A picture, a byte count and a proof that all ranks end with the exact sum come from the same run.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol

from engine.core.message import Transfer
from engine.core.units import Bytes, Count
from engine.simulate.collectives.collective_trace import EMPTY, Cell, Frame, State, Trace

# Sums stay readable: three digits for up to sixteen ranks.
_LARGEST_SUM = 999
ROOT = 0

# What every operation is called; the order is that of a list to choose from.
OPERATIONS: Mapping[str, str] = {
    "all_reduce": "all-reduce",
    "reduce_scatter": "reduce-scatter",
    "all_gather": "all-gather",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "scatter": "scatter",
    "gather": "gather",
    "all_to_all": "all-to-all",
}


class Collective(Protocol):
    """What a module of `engine.collectives` declares."""

    TITLE: str
    OPERATION: str

    def chunks(self, world_size: Count) -> Count:
        """Return the number of chunks the buffer is cut into."""

    def rounds(self, world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
        """Return the messages of every round."""

    def bytes_sent(self, world_size: Count, size: Bytes) -> Bytes:
        """Return what the busiest rank sends."""

    def num_rounds(self, world_size: Count) -> Count:
        """Return the number of rounds."""


def run(collective: Collective, world_size: Count, seed: int = 0) -> Trace:
    """Return the trace of `collective`, a module of `engine.collectives`, on `world_size` ranks.

    A module may declare `SWITCHES`, nodes behind the ranks that start with nothing and may add.

    Raises:
        ValueError: the collective is broken: a message between ranks or chunks that do not exist,
            of a chunk the sender does not hold, a part added twice, or two values for one place.
    """
    if world_size < 1:
        raise ValueError(f"world_size is {world_size}; it must be 1 or more")
    chunks = collective.chunks(world_size)
    switches: int = getattr(collective, "SWITCHES", 0)
    nothing = (0,) * (world_size + switches)
    frame = Frame(
        transfers=(),
        state=start(collective.OPERATION, world_size, chunks, seed)
        + ((EMPTY,) * chunks,) * switches,
        sent=nothing,
        received=nothing,
    )
    frames = [frame]
    for transfers in collective.rounds(world_size):
        frame = _after(frame, transfers)
        frames.append(frame)
    return Trace(
        title=collective.TITLE,
        operation=collective.OPERATION,
        world_size=world_size,
        chunks=chunks,
        frames=tuple(frames),
        seed=seed,
    )


def start(operation: str, world_size: Count, chunks: Count, seed: int = 0) -> State:
    """Return the state before the first round: the parts that each rank holds by itself."""
    return tuple(
        tuple(
            Cell(value=part(rank, chunk, world_size, chunks, seed), ranks=frozenset((rank,)))
            if _holds(operation, rank, chunk, world_size)
            else EMPTY
            for chunk in range(chunks)
        )
        for rank in range(world_size)
    )


def part(rank: int, chunk: int, world_size: Count, chunks: Count, seed: int = 0) -> int:
    """Return the small integer that `rank` starts with for `chunk`.

    Without a seed all are different as long as sums then stay below a thousand (ten ranks with
    ten chunks); beyond, those of one chunk still are. With one they are scrambled.
    """
    if seed:
        mixed = (seed * 7_919 + rank * 104_729 + chunk * 1_299_709) * 2_654_435_761 % 2**32
        return 1 + (mixed >> 7) % min(99, _LARGEST_SUM // world_size)
    spare = _LARGEST_SUM - world_size * (world_size + 1) // 2
    stride = max(1, min(world_size, spare // (world_size * max(1, chunks - 1))))
    return 1 + rank + stride * chunk


def finished(trace: Trace) -> bool:
    """Return whether every rank ends with exactly what the operation promises it."""
    final = trace.frames[-1].state
    return all(
        final[rank][chunk] == promised
        for rank in range(trace.world_size)
        for chunk in range(trace.chunks)
        if (promised := promise(trace, rank, chunk)) is not None
    )


def promise(trace: Trace, rank: int, chunk: int) -> Cell | None:
    """Return what `rank` must end with for `chunk`, added directly; None if it is owed nothing."""
    n, operation = trace.world_size, trace.operation
    if rank >= n or not _owed(operation, rank, chunk, n):
        return None
    return _sum(operation, chunk, n, trace.chunks, trace.seed)


@lru_cache(maxsize=4096)
def _sum(operation: str, chunk: int, world_size: Count, chunks: Count, seed: int) -> Cell:
    """Return what every rank that is owed a chunk must end with."""
    if operation in ("all_reduce", "reduce_scatter", "reduce"):
        ranks = frozenset(range(world_size))
    elif operation in ("broadcast", "scatter"):
        ranks = frozenset((ROOT,))
    else:
        ranks = frozenset((_origin(operation, chunk, world_size),))
    value = sum(part(one, chunk, world_size, chunks, seed) for one in ranks)
    return Cell(value=value, ranks=ranks)


def _origin(operation: str, chunk: int, world_size: Count) -> int:
    """Return the rank whose data a chunk of a gather or an all-to-all is."""
    return chunk // world_size if operation == "all_to_all" else chunk % world_size


def _holds(operation: str, rank: int, chunk: int, world_size: Count) -> bool:
    if operation in ("all_gather", "gather", "all_to_all"):
        return _origin(operation, chunk, world_size) == rank
    return rank == ROOT if operation in ("broadcast", "scatter") else True


def _owed(operation: str, rank: int, chunk: int, world_size: Count) -> bool:
    if operation in ("reduce_scatter", "scatter", "all_to_all"):
        return chunk % world_size == rank
    return rank == ROOT if operation in ("reduce", "gather") else True


def _after(frame: Frame, transfers: tuple[Transfer, ...]) -> Frame:
    state = [list(cells) for cells in frame.state]
    sent, received = list(frame.sent), list(frame.received)
    written: dict[tuple[int, int], bool] = {}
    for transfer in transfers:
        _check(transfer, frame.state)
        here = (transfer.target, transfer.chunk)
        # Sums of one round may meet in any order; a replacement admits nothing beside it.
        if not (transfer.reduce and written.get(here, True)) and here in written:
            raise ValueError(f"{_name(transfer)}: another message replaces or adds there as well")
        written[here] = transfer.reduce
        message = frame.state[transfer.source][transfer.chunk]
        old = state[transfer.target][transfer.chunk]
        state[transfer.target][transfer.chunk] = (
            _add(old, message, transfer) if transfer.reduce else message
        )
        sent[transfer.source] += 1
        received[transfer.target] += 1
    return Frame(
        transfers=transfers,
        state=tuple(tuple(cells) for cells in state),
        sent=tuple(sent),
        received=tuple(received),
    )


def _check(transfer: Transfer, state: State) -> None:
    ranks, chunks = len(state), len(state[0])
    if not (0 <= transfer.source < ranks and 0 <= transfer.target < ranks):
        raise ValueError(f"{_name(transfer)}: there are only ranks 0 to {ranks - 1}")
    if transfer.source == transfer.target:
        raise ValueError(f"{_name(transfer)}: a rank does not send to itself")
    if not 0 <= transfer.chunk < chunks:
        raise ValueError(f"{_name(transfer)}: there are only chunks 0 to {chunks - 1}")
    if not state[transfer.source][transfer.chunk].ranks:
        raise ValueError(f"{_name(transfer)}: the sender holds nothing of this chunk")


def _add(old: Cell, message: Cell, transfer: Transfer) -> Cell:
    twice = old.ranks & message.ranks
    if twice:
        raise ValueError(f"{_name(transfer)}: the part of rank {min(twice)} is added twice")
    return Cell(value=old.value + message.value, ranks=old.ranks | message.ranks)


def _name(transfer: Transfer) -> str:
    return f"chunk {transfer.chunk} from rank {transfer.source} to rank {transfer.target}"
