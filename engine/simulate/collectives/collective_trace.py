"""The record of a collective that ran: who held what after every round, what every port sent."""

from dataclasses import dataclass

from engine.core.message import Transfer
from engine.core.units import Bandwidth, Bytes, Count, Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What one rank holds of one chunk: the sum so far, and whose parts are in it."""

    value: int
    ranks: frozenset[int]


EMPTY = Cell(value=0, ranks=frozenset())

State = tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The world after one round; the first frame of a trace is the world before any.

    Attributes:
        transfers: the messages of this round, none in the first frame.
        state: [rank][chunk], with a row more for every switch that adds.
        sent: chunks that each rank has sent since the start; `port_bytes` gives bytes.
        received: chunks that each rank has received since the start.
    """

    transfers: tuple[Transfer, ...]
    state: State
    sent: tuple[int, ...]
    received: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """A whole run; equal to none but itself, so that what is made of it is quickly found again.

    Attributes:
        title: of the collective.
        operation: key of `engine.simulate.collectives.collective_execution.OPERATIONS`.
        world_size: ranks; nodes of a frame behind them are switches.
        chunks: equal chunks of the buffer; in an all-to-all, blocks of all ranks' buffers.
        frames: the world before the first round and after each.
        seed: of the numbers that the ranks start with.
    """

    title: str
    operation: str
    world_size: Count
    chunks: Count
    frames: tuple[Frame, ...]
    seed: int = 0

    @property
    def buffer_chunks(self) -> Count:
        """Chunks of one rank's buffer."""
        return self.world_size if self.operation == "all_to_all" else self.chunks


def port_bytes(trace: Trace, frame: int, size: Bytes) -> tuple[tuple[Bytes, Bytes], ...]:
    """Return (sent, received) bytes of every rank since the start, for a buffer of `size`."""
    now = trace.frames[frame]
    per_chunk = size / trace.buffer_chunks
    ports = zip(now.sent, now.received, strict=True)
    return tuple(
        (sent * per_chunk, received * per_chunk)
        for sent, received in list(ports)[: trace.world_size]
    )


def time(trace: Trace, size: Bytes, bandwidth: Bandwidth, latency: Seconds) -> Seconds:
    """Return how long the run takes when rounds wait for one another.

    A round takes one latency plus the bytes of its busiest port, in the busier direction, over
    the bandwidth. For rings and stars this is their closed form. For the double tree, with its
    halves in k pieces each, it is at least the closed form, and at most 2 depth + k - 1 rounds of
    latency + 2 size / (k bandwidth): a factor of 1 + (2 depth - 1)/k on the bandwidth part, the
    cost of filling the pipeline.
    """
    per_chunk = size / trace.buffer_chunks
    return sum(
        (
            latency + _busiest(before, after) * per_chunk / bandwidth
            for before, after in zip(trace.frames, trace.frames[1:], strict=False)
        ),
        0.0,
    )


def _busiest(before: Frame, after: Frame) -> int:
    sent = zip(before.sent, after.sent, strict=True)
    received = zip(before.received, after.received, strict=True)
    return max(new - old for pairs in (sent, received) for old, new in pairs)
