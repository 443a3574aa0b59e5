"""A pipeline's orders as numbers: what each operation needs, and what it gives to whom.

A token stands for a forward result of a stage that arrived at the next one, or for the gradient of
a stage that arrived at the one before. The simulator only sees tokens, so it need not know stages.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.pipeline_op import (
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
from engine.units import Count

READY, NOWHERE = 0, 1  # The token that is always there, and the one that nobody waits for.
_HERE = -1  # The wire of what stays on its rank.
# kind, two tokens needed, and two tokens given, each with its wire.
Step = tuple[int, int, int, int, int, int, int]
_Route = tuple[int, int, int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What the simulator runs.

    Attributes:
        orders: every rank's operations.
        steps: the same as numbers.
        num_tokens: how many tokens there are.
        num_parts: into how many parts a rank's layers are cut: an operation computes one.
        held: chunks that each rank holds activations of after each operation.
        peaks: the most chunks that each rank holds activations of.
        num_messages: sent between ranks.
    """

    orders: Orders
    steps: tuple[tuple[Step, ...], ...]
    num_tokens: Count
    num_parts: Count
    held: tuple[tuple[int, ...], ...]
    peaks: tuple[int, ...]
    num_messages: Count


def program(
    orders: Orders, num_microbatches: Count, num_chunks: Count, placement: str, num_parts: Count
) -> Program:
    """Return the orders as numbers.

    Raises:
        ValueError: an operation is twice, missing, or before one of its own rank that it needs.
    """
    ranks = len(orders)
    half = ranks * num_chunks * num_microbatches
    steps, held = [], []
    for rank, order in enumerate(orders):
        routes = [_route(rank, chunk, ranks, num_chunks, placement) for chunk in range(num_chunks)]
        held.append(_held(rank, order))
        steps.append(_steps(order, _tokens(routes, num_microbatches, half), num_microbatches))
    wires = (wire for each in steps for step in each for wire in (step[4], step[6]))
    return Program(
        orders=orders,
        steps=tuple(steps),
        num_tokens=2 + 2 * half,
        num_parts=num_parts,
        held=tuple(held),
        peaks=tuple(_peak(one, order) for one, order in zip(held, orders, strict=True)),
        num_messages=sum(wire != _HERE for wire in wires),
    )


def _route(rank: int, chunk: int, ranks: Count, num_chunks: Count, placement: str) -> _Route:
    """Return stages (before, own, behind; -1 for none) and wires (ahead, back) of a chunk.

    A rank has a wire to each neighbor and way: 2 rank + 0 up, 2 rank + 1 down.
    """
    own = stage_of(rank, chunk, ranks, placement)
    before = -1 if is_first(own, ranks, placement) else own - 1
    behind = -1 if is_last(own, ranks, num_chunks, placement) else own + 1

    def wire(stage: int) -> int:
        other = rank_of(stage, ranks, placement) if stage >= 0 else rank
        return _HERE if other == rank else 2 * rank + ((other - rank) % ranks != 1)

    return before, own, behind, wire(behind), wire(before), chunk


def _tokens(routes: Sequence[_Route], num: Count, half: Count) -> list[tuple[int, ...]]:
    """Return for each chunk: first tokens (needed, given) ahead and back, with their wires.

    A negative first token means that nothing is needed, or given.
    """
    return [
        (
            2 + before * num if before >= 0 else -1,
            2 + own * num if behind >= 0 else -1,
            ahead,
            2 + half + behind * num if behind >= 0 else -1,
            2 + half + own * num if before >= 0 else -1,
            back,
        )
        for before, own, behind, ahead, back, _ in routes
    ]


def _steps(order: Sequence[Op], tokens: list[tuple[int, ...]], num: Count) -> tuple[Step, ...]:
    steps: list[Step] = []
    for kind, microbatch, chunk, back_microbatch, back_chunk in order:
        if kind == WEIGHT:
            steps.append((kind, READY, READY, NOWHERE, _HERE, NOWHERE, _HERE))
            continue
        need, give, wire, back_need, back_give, back_wire = tokens[chunk]
        if kind in (FORWARD, PAIR):
            needed = need + microbatch if need >= 0 else READY
            given = give + microbatch if give >= 0 else NOWHERE
        else:
            needed = back_need + microbatch if back_need >= 0 else READY
            given = back_give + microbatch if back_give >= 0 else NOWHERE
            wire = back_wire
        if kind != PAIR:
            steps.append((kind, needed, READY, given, wire, NOWHERE, _HERE))
            continue
        _, _, _, back_need, back_give, back_wire = tokens[back_chunk]
        also = back_need + back_microbatch if back_need >= 0 else READY
        too = back_give + back_microbatch if back_give >= 0 else NOWHERE
        steps.append((kind, needed, also, given, wire, too, back_wire))
    return tuple(steps)


def _held(rank: int, order: Sequence[Op]) -> tuple[int, ...]:
    """Return the activations held after each operation, until their last use.

    Raises:
        ValueError: an operation of the rank is twice, missing or too early.
    """
    done: dict[tuple[int, int], int] = {}
    held, count = [], 0
    for op in order:
        kind, microbatch, chunk, back_microbatch, back_chunk = op
        if kind in (FORWARD, PAIR):
            _advance(done, (microbatch, chunk), None, FORWARD, rank, op)
            count += 1
        if kind == PAIR:
            _advance(done, (back_microbatch, back_chunk), FORWARD, BACKWARD, rank, op)
            count -= 1
        elif kind == BACKWARD:
            _advance(done, (microbatch, chunk), FORWARD, BACKWARD, rank, op)
            count -= 1
        elif kind == INPUT:
            _advance(done, (microbatch, chunk), FORWARD, INPUT, rank, op)
        elif kind == WEIGHT:
            _advance(done, (microbatch, chunk), INPUT, BACKWARD, rank, op)
            count -= 1
        held.append(count)
    if count:
        raise ValueError(f"rank {rank} leaves {count} backward passes undone")
    return tuple(held)


def _advance(
    done: dict[tuple[int, int], int],
    key: tuple[int, int],
    before: int | None,
    after: int,
    rank: int,
    op: Op,
) -> None:
    if done.get(key) != before:
        raise ValueError(f"rank {rank} cannot do the {describe(op)} at this place of its order")
    done[key] = after


def _peak(held: Sequence[int], order: Sequence[Op]) -> int:
    """Return the most held at a time; a pair holds both until it ends."""
    return max((n + (op.kind == PAIR) for n, op in zip(held, order, strict=True)), default=0)
