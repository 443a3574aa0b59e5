"""Pipeline orders as numbers: input and output tokens of each operation.

A token stands for a forward result of a stage that arrived at the next one, or for the gradient of
a stage that arrived at the one before. The simulator only sees tokens, so it need not know stages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from engine.core.pipeline_op import (
    BACKWARD,
    FORWARD,
    INPUT,
    PAIR,
    WEIGHT,
    Op,
    Orders,
    describe,
    is_first,
    is_last,
    rank_of,
    stage_of,
)
from engine.core.units import Count

READY = 0  # The token that is always there.
_NO_WIRE = -1  # The wire of what stays on its rank.
# How many chunks more are held after an operation of each kind, in the order of the kinds.
_CHUNK_CHANGE = (1, -1, 0, -1, 0)
# A token that is given, and the wire that it travels on.
_Output = tuple[int, int]
# Kind, two tokens that are needed, and all that are given.
ProgramStep = tuple[int, int, int, tuple[_Output, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineProgram:
    """A compiled pipeline schedule for the simulator.

    Attributes:
        orders: every rank's operations.
        steps: the same as numbers.
        num_tokens: how many tokens there are.
        num_parts: into how many parts a rank's layers are cut: an operation computes one.
        places: of each rank's chunks, which part of the model they are, counted along it from 0.
        chunks_held: chunks that each rank holds activations of after each operation.
        peaks: the most chunks that each rank holds activations of.
        num_messages: sent between ranks.
    """

    orders: Orders
    steps: tuple[tuple[ProgramStep, ...], ...]
    num_tokens: Count
    num_parts: Count
    places: tuple[tuple[Count, ...], ...]
    chunks_held: tuple[tuple[int, ...], ...]
    peaks: tuple[int, ...]
    num_messages: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChunkTokens:
    """Token offsets of one chunk in one direction; tokens add the micro-batch number.

    Attributes:
        need: what it waits for; negative if nothing.
        give: what it produces; negative if nothing.
        wire: where that travels: to neighbors up 2 rank, down 2 rank + 1.
    """

    need: int
    give: int
    wire: int


def build_program(
    orders: Orders, num_microbatches: Count, num_chunks: Count, placement: str, num_parts: Count
) -> PipelineProgram:
    """Return the compiled orders; `check_orders` validates them."""
    ranks = len(orders)
    half = ranks * num_chunks * num_microbatches
    steps = []
    for rank, order in enumerate(orders):
        ways = [
            _chunk_tokens(rank, chunk, (ranks, num_chunks, num_microbatches), placement)
            for chunk in range(num_chunks)
        ]
        steps.append(_steps(order, ways))
    chunks_held = tuple(tuple(accumulate(_CHUNK_CHANGE[op[0]] for op in order)) for order in orders)
    return PipelineProgram(
        orders=orders,
        steps=tuple(steps),
        num_tokens=1 + 2 * half,
        num_parts=num_parts,
        places=tuple(
            tuple(
                stage_of(rank, chunk, ranks, placement) % (ranks * num_parts)
                for chunk in range(num_chunks)
            )
            for rank in range(ranks)
        ),
        chunks_held=chunks_held,
        peaks=tuple(
            _peak_chunks(rank_chunks, order)
            for rank_chunks, order in zip(chunks_held, orders, strict=True)
        ),
        num_messages=sum(
            wire != _NO_WIRE for each in steps for step in each for _, wire in step[3]
        ),
    )


def _chunk_tokens(
    rank: int, chunk: int, sizes: tuple[Count, Count, Count], placement: str
) -> tuple[_ChunkTokens, _ChunkTokens]:
    """Return the tokens of a chunk forward and backward; sizes are ranks, chunks, micro-batches."""
    ranks, num_chunks, num = sizes
    own = stage_of(rank, chunk, ranks, placement)
    first = is_first(own, ranks, placement)
    last = is_last(own, ranks, num_chunks, placement)
    back = 1 + ranks * num_chunks * num

    def wire(stage: int) -> int:
        other = rank_of(stage, ranks, placement)
        return _NO_WIRE if other == rank else 2 * rank + ((other - rank) % ranks != 1)

    ahead = _ChunkTokens(
        need=-1 if first else 1 + (own - 1) * num,
        give=-1 if last else 1 + own * num,
        wire=_NO_WIRE if last else wire(own + 1),
    )
    return ahead, _ChunkTokens(
        need=-1 if last else back + (own + 1) * num,
        give=-1 if first else back + own * num,
        wire=_NO_WIRE if first else wire(own - 1),
    )


def _steps(
    order: Sequence[Op], ways: Sequence[tuple[_ChunkTokens, _ChunkTokens]]
) -> tuple[ProgramStep, ...]:
    steps: list[ProgramStep] = []
    for kind, microbatch, chunk, back_microbatch, back_chunk in order:
        if kind == WEIGHT:
            steps.append((kind, READY, READY, ()))
            continue
        way = ways[chunk][kind in (BACKWARD, INPUT)]
        need = way.need + microbatch if way.need > 0 else READY
        gives: tuple[_Output, ...] = ((way.give + microbatch, way.wire),) if way.give > 0 else ()
        also = READY
        if kind == PAIR:
            back = ways[back_chunk][1]
            also = back.need + back_microbatch if back.need > 0 else READY
            if back.give > 0:
                gives += ((back.give + back_microbatch, back.wire),)
        steps.append((kind, need, also, gives))
    return tuple(steps)


def _peak_chunks(chunks_held: Sequence[int], order: Sequence[Op]) -> int:
    """Return the peak number of held chunks; a pair holds both until it ends."""
    return max(map(_chunks_during, chunks_held, order), default=0)


def _chunks_during(chunks: int, op: Op) -> int:
    return chunks + 1 if op[0] == PAIR else chunks


def check_orders(orders: Orders) -> None:
    """Check that every rank goes forward, then backward, once with each micro-batch and chunk.

    Raises:
        ValueError: an operation of a rank is twice, missing or too early.
    """
    for rank, order in enumerate(orders):
        done: dict[tuple[int, int], int] = {}
        for op in order:
            for key, before, after in _state_changes(op):
                if done.get(key) != before:
                    raise ValueError(
                        f"rank {rank} cannot do the {describe(op)} at this place of its order"
                    )
                done[key] = after
        left = sum(state != BACKWARD for state in done.values())
        if left:
            raise ValueError(f"rank {rank} leaves {left} backward passes undone")


def _state_changes(op: Op) -> list[tuple[tuple[int, int], int | None, int]]:
    """Return (micro-batch and chunk, state before, state after) of an operation."""
    here, there = (op.microbatch, op.chunk), (op.back_microbatch, op.back_chunk)
    changes: dict[int, list[tuple[tuple[int, int], int | None, int]]] = {
        FORWARD: [(here, None, FORWARD)],
        BACKWARD: [(here, FORWARD, BACKWARD)],
        INPUT: [(here, FORWARD, INPUT)],
        WEIGHT: [(here, INPUT, BACKWARD)],
        PAIR: [(here, None, FORWARD), (there, FORWARD, BACKWARD)],
    }
    return changes[op.kind]
