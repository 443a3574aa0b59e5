"""Execution of a collective on small integers, with the chunks of every rank after each round.

The drawing, the byte counts and the proof that all ranks end with the exact sum share one run.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol

from engine.core.message import Transfer
from engine.core.units import Bytes, Count
from engine.simulate.collectives.collective_trace import (
    EMPTY_CHUNK,
    BufferState,
    ChunkState,
    CollectiveTrace,
    TraceFrame,
)

# Sums stay readable: three digits for up to sixteen ranks.
_LARGEST_SUM = 999
ROOT = 0

# Display names of the operations, in the order of the menu.
OPERATION_NAMES: Mapping[str, str] = {
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
    """Interface of a module of `engine.collectives`."""

    TITLE: str
    OPERATION: str

    def chunks(self, world_size: Count) -> Count:
        """Return the number of chunks the buffer is cut into."""

    def rounds(self, world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
        """Return the messages of every round."""

    def bytes_sent(self, world_size: Count, size: Bytes) -> Bytes:
        """Return the bytes that the busiest rank sends."""

    def num_rounds(self, world_size: Count) -> Count:
        """Return the number of rounds."""


def run_collective(collective: Collective, world_size: Count, seed: int = 0) -> CollectiveTrace:
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
    zeros = (0,) * (world_size + switches)
    frame = TraceFrame(
        transfers=(),
        state=initial_state(collective.OPERATION, world_size, chunks, seed)
        + ((EMPTY_CHUNK,) * chunks,) * switches,
        sent=zeros,
        received=zeros,
    )
    frames = [frame]
    for transfers in collective.rounds(world_size):
        frame = _next_frame(frame, transfers)
        frames.append(frame)
    return CollectiveTrace(
        title=collective.TITLE,
        operation=collective.OPERATION,
        world_size=world_size,
        chunks=chunks,
        frames=tuple(frames),
        seed=seed,
    )


def initial_state(operation: str, world_size: Count, chunks: Count, seed: int = 0) -> BufferState:
    """Return the state before the first round: the chunks with which each rank starts."""
    return tuple(
        tuple(
            ChunkState(
                value=initial_value(rank, chunk, world_size, chunks, seed), ranks=frozenset((rank,))
            )
            if _starts_with_data(operation, rank, chunk, world_size)
            else EMPTY_CHUNK
            for chunk in range(chunks)
        )
        for rank in range(world_size)
    )


def initial_value(rank: int, chunk: int, world_size: Count, chunks: Count, seed: int = 0) -> int:
    """Return the small integer that `rank` starts with for `chunk`.

    Without a seed all are different as long as sums then stay below a thousand (ten ranks with
    ten chunks); beyond, those of one chunk still are. With one they are scrambled.
    """
    if seed:
        scrambled = (seed * 7_919 + rank * 104_729 + chunk * 1_299_709) * 2_654_435_761 % 2**32
        return 1 + (scrambled >> 7) % min(99, _LARGEST_SUM // world_size)
    spread = _LARGEST_SUM - world_size * (world_size + 1) // 2
    stride = max(1, min(world_size, spread // (world_size * max(1, chunks - 1))))
    return 1 + rank + stride * chunk


def expected_cell(trace: CollectiveTrace, rank: int, chunk: int) -> ChunkState | None:
    """Return the chunk that `rank` must end with, summed directly; None if it receives none."""
    n, operation = trace.world_size, trace.operation
    if rank >= n or not _receives_result(operation, rank, chunk, n):
        return None
    return _expected_result(operation, chunk, n, trace.chunks, trace.seed)


@lru_cache(maxsize=4096)
def _expected_result(
    operation: str, chunk: int, world_size: Count, chunks: Count, seed: int
) -> ChunkState:
    """Return the final value of a chunk on the ranks that receive it."""
    if operation in ("all_reduce", "reduce_scatter", "reduce"):
        ranks = frozenset(range(world_size))
    elif operation in ("broadcast", "scatter"):
        ranks = frozenset((ROOT,))
    else:
        ranks = frozenset((_source_rank(operation, chunk, world_size),))
    value = sum(initial_value(rank, chunk, world_size, chunks, seed) for rank in ranks)
    return ChunkState(value=value, ranks=ranks)


def _source_rank(operation: str, chunk: int, world_size: Count) -> int:
    """Return the source rank of a chunk of a gather or an all-to-all."""
    return chunk // world_size if operation == "all_to_all" else chunk % world_size


def _starts_with_data(operation: str, rank: int, chunk: int, world_size: Count) -> bool:
    if operation in ("all_gather", "gather", "all_to_all"):
        return _source_rank(operation, chunk, world_size) == rank
    return rank == ROOT if operation in ("broadcast", "scatter") else True


def _receives_result(operation: str, rank: int, chunk: int, world_size: Count) -> bool:
    if operation in ("reduce_scatter", "scatter", "all_to_all"):
        return chunk % world_size == rank
    return rank == ROOT if operation in ("reduce", "gather") else True


def _next_frame(frame: TraceFrame, transfers: tuple[Transfer, ...]) -> TraceFrame:
    state = [list(cells) for cells in frame.state]
    sent, received = list(frame.sent), list(frame.received)
    writes: dict[tuple[int, int], bool] = {}
    for transfer in transfers:
        _check_transfer(transfer, frame.state)
        destination = (transfer.target, transfer.chunk)
        # Sums of one round may meet in any order; a replacement admits nothing beside it.
        if not (transfer.reduce and writes.get(destination, True)) and destination in writes:
            raise ValueError(
                f"{_transfer_name(transfer)}: another message replaces or adds there as well"
            )
        writes[destination] = transfer.reduce
        message = frame.state[transfer.source][transfer.chunk]
        current = state[transfer.target][transfer.chunk]
        state[transfer.target][transfer.chunk] = (
            _add_cells(current, message, transfer) if transfer.reduce else message
        )
        sent[transfer.source] += 1
        received[transfer.target] += 1
    return TraceFrame(
        transfers=transfers,
        state=tuple(tuple(cells) for cells in state),
        sent=tuple(sent),
        received=tuple(received),
    )


def _check_transfer(transfer: Transfer, state: BufferState) -> None:
    ranks, chunks = len(state), len(state[0])
    if not (0 <= transfer.source < ranks and 0 <= transfer.target < ranks):
        raise ValueError(f"{_transfer_name(transfer)}: there are only ranks 0 to {ranks - 1}")
    if transfer.source == transfer.target:
        raise ValueError(f"{_transfer_name(transfer)}: a rank does not send to itself")
    if not 0 <= transfer.chunk < chunks:
        raise ValueError(f"{_transfer_name(transfer)}: there are only chunks 0 to {chunks - 1}")
    if not state[transfer.source][transfer.chunk].ranks:
        raise ValueError(f"{_transfer_name(transfer)}: the sender holds nothing of this chunk")


def _add_cells(current: ChunkState, message: ChunkState, transfer: Transfer) -> ChunkState:
    duplicates = current.ranks & message.ranks
    if duplicates:
        raise ValueError(
            f"{_transfer_name(transfer)}: the part of rank {min(duplicates)} is added twice"
        )
    return ChunkState(value=current.value + message.value, ranks=current.ranks | message.ranks)


def _transfer_name(transfer: Transfer) -> str:
    return f"chunk {transfer.chunk} from rank {transfer.source} to rank {transfer.target}"
