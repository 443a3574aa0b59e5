"""Exposed time of a key-value ring for sequence layouts other than zig-zag.

Apart from `context_exchange`: the step time cuts in a zig-zag and needs none of this.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import add

from engine.core.units import Count, Ratio, Seconds
from engine.simulate.layer.attention_masks import Layout, even_ring_work
from engine.simulate.layer.context_exchange import PassTimes, Ring, even_waits

# Tokens of a piece when pairs are counted: enough that the diagonal no longer matters.
_PIECE_TOKENS: Count = 4096


def ring_waits(ring: Ring, core: PassTimes, layout: Layout, num_buffers: Count = 2) -> PassTimes:
    """Return the time of a ring's slowest rank beyond `core`, the even share of the attention.

    It is the time for messages, and for the rank that has more to compute than the others.
    """
    if layout == "zigzag" and num_buffers > 1:
        return even_waits(ring, core)
    hops = ring.hop, 2 * ring.hop
    waits = [
        ring_end(_step_times(layout, ring.steps + 1, even_time), hop, num_buffers) - even_time
        for even_time, hop in zip(core, hops, strict=True)
    ]
    return max(0.0, waits[0]), max(0.0, waits[1])


def _step_times(layout: Layout, ranks: Count, core: Seconds) -> list[list[Seconds]]:
    """Return the attention time [step][rank], for an even share of `core` per rank."""
    return [[core * share for share in step] for step in step_shares(layout, ranks)]


@lru_cache(maxsize=64)
def step_shares(layout: Layout, ranks: Count) -> tuple[tuple[Ratio, ...], ...]:
    """Return the work [step][rank] of a causal ring, relative to the even share of a rank."""
    pairs = even_ring_work(layout, ranks, _PIECE_TOKENS)
    mean = sum(map(sum, pairs)) / ranks
    return tuple(tuple(count / mean for count in step) for step in pairs)


# Simulation of ring attention: blocks of keys and values travel during computation.
#
# Each rank computes on the block it has, and passes it on as soon as it has arrived. With one
# buffer it cannot receive before it has computed, and nothing overlaps.

Grid = list[list[Seconds]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RingStep:
    """Times of one rank's work on one block.

    Attributes:
        rank: computing rank.
        step: step of the ring, from 0.
        source: rank of the keys and values.
        sent: time at which the block left the neighbor (0 in the first step).
        arrived: time at which the block arrived.
        start: start of the computation.
        end: end of the computation.
    """

    rank: Count
    step: Count
    source: Count
    sent: Seconds
    arrived: Seconds
    start: Seconds
    end: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class RingRun:
    """Times of a whole ring.

    Attributes:
        turns: ring steps by step, then by rank.
        end: end of the last rank.
        busiest: computation time of the busiest rank; end - busiest is waiting.
    """

    turns: tuple[RingStep, ...]
    end: Seconds
    busiest: Seconds


def simulate_ring(
    work: Sequence[Sequence[Seconds]], send: Seconds, num_buffers: Count = 2
) -> RingRun:
    """Return the ring in which rank r computes for work[step][r] and blocks travel for `send`.

    A block leaves when it has arrived at the sender, the link is free, and the receiver has a
    free buffer: it has computed on the block that lay there and passed it on.

    Raises:
        ValueError: there is no buffer.
    """
    ranks = len(work[0])
    sent, arrived, start, end = _ring_times(work, send, num_buffers)
    return RingRun(
        turns=tuple(
            RingStep(
                rank=rank,
                step=step,
                source=(rank - step) % ranks,
                sent=sent[step][rank],
                arrived=arrived[step][rank],
                start=start[step][rank],
                end=end[step][rank],
            )
            for step in range(len(work))
            for rank in range(ranks)
        ),
        end=max(end[-1]),
        busiest=max(sum(step[rank] for step in work) for rank in range(ranks)),
    )


def ring_end(work: Sequence[Sequence[Seconds]], send: Seconds, num_buffers: Count = 2) -> Seconds:
    """Return when the last rank of `simulate_ring` is done."""
    if all(len(set(step)) == 1 for step in work):
        work = [step[:1] for step in work]  # all do the same at once: one stands for all
    return max(_ring_times(work, send, num_buffers)[-1][-1])


def _ring_times(
    work: Sequence[Sequence[Seconds]], send: Seconds, num_buffers: Count
) -> tuple[Grid, ...]:
    """Return the times of sending, arrival, start and end of work, each [step][rank]."""
    if num_buffers < 1:
        raise ValueError(f"num_buffers is {num_buffers}; at least 1 is needed")
    ranks = len(work[0])
    sent, arrived = [[0.0] * ranks], [[0.0] * ranks]
    start, end = [[0.0] * ranks], [list(work[0])]
    for step in range(1, len(work)):
        sent.append(_send_times(arrived, end, num_buffers))
        arrived.append([time + send for time in sent[-1]])
        start.append(list(map(max, end[-1], arrived[-1])))
        end.append(list(map(add, start[-1], work[step])))
    return sent, arrived, start, end


def _send_times(arrived: Grid, end: Grid, buffers: Count) -> list[Seconds]:
    """Return the sending times of the next step's blocks, by receiving rank."""
    if buffers == 1:
        # Both neighbors swap blocks in place, when both have computed on what they have.
        return list(map(max, _shift_right(end[-1]), end[-1]))
    times = [_shift_right(arrived[-1]), arrived[-1]]
    if len(end) >= buffers:
        right = arrived[1 - buffers]
        times += [end[-buffers], right[1:] + right[:1]]
    return list(map(max, *times))


def _shift_right(times: list[Seconds]) -> list[Seconds]:
    """Return the values shifted by one rank around the ring."""
    return times[-1:] + times[:-1]
