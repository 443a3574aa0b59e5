"""Trace of an executed collective: the chunks of every rank and the bytes of every port."""

from dataclasses import dataclass

from engine.core.message import Transfer
from engine.core.units import Bytes, Count


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkState:
    """State of one chunk on one rank: the partial sum, and the ranks that contributed to it."""

    value: int
    ranks: frozenset[int]


EMPTY_CHUNK = ChunkState(value=0, ranks=frozenset())

BufferState = tuple[tuple[ChunkState, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFrame:
    """State of all ranks after one round; the first frame of a trace is the initial state.

    Attributes:
        transfers: messages of this round, none in the first frame.
        state: [rank][chunk], with one more row for every switch that reduces.
        sent: chunks that each rank has sent since the start; `port_bytes` converts to bytes.
        received: chunks that each rank has received since the start.
    """

    transfers: tuple[Transfer, ...]
    state: BufferState
    sent: tuple[int, ...]
    received: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectiveTrace:
    """Trace of a whole run; compared by identity, so that results cached for it are found quickly.

    Attributes:
        title: name of the collective.
        operation: key of `engine.simulate.collectives.collective_execution.OPERATION_NAMES`.
        world_size: ranks; nodes of a frame behind them are switches.
        chunks: equal chunks of the buffer; in an all-to-all, blocks of all ranks' buffers.
        frames: states before the first round and after each.
        seed: seed of the initial values.
    """

    title: str
    operation: str
    world_size: Count
    chunks: Count
    frames: tuple[TraceFrame, ...]
    seed: int = 0

    @property
    def buffer_chunks(self) -> Count:
        """Number of chunks of one rank's buffer."""
        return self.world_size if self.operation == "all_to_all" else self.chunks


def port_bytes(trace: CollectiveTrace, frame: int, size: Bytes) -> tuple[tuple[Bytes, Bytes], ...]:
    """Return (sent, received) bytes of every rank since the start, for a buffer of `size`."""
    current = trace.frames[frame]
    per_chunk = size / trace.buffer_chunks
    ports = zip(current.sent, current.received, strict=True)
    return tuple(
        (sent * per_chunk, received * per_chunk)
        for sent, received in list(ports)[: trace.world_size]
    )
