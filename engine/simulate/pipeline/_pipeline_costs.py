"""How long every operation of a pipeline takes: kinds alike, or by the part that it computes."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.pipeline_op import PAIR, Op
from engine.core.units import Bandwidth, Bytes, Ratio, Seconds
from engine.simulate.pipeline._pipeline_program import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How long a rank computes on one micro-batch, with all its layers, and how long messages take.

    Attributes:
        forward: its forward pass.
        backward_input: the gradient for the stage before.
        backward_weight: the gradient of its own weights.
        pair: a forward and a whole backward of different micro-batches at the same time.
        recompute: whether the backward pass repeats the forward pass first.
        latency: of a message between neighbors.
        message: its size, the boundary activations of a micro-batch.
        bandwidth: of the wire, one way; 0 for none that limits.
        slowness: for each rank how much longer it takes; empty if all are alike.
        pieces: for each part of the model, along it, its time over that of an even part; empty if
            all are alike.
    """

    forward: Seconds
    backward_input: Seconds
    backward_weight: Seconds
    pair: Seconds
    recompute: bool = False
    latency: Seconds = 0.0
    message: Bytes = 0.0
    bandwidth: Bandwidth = 0.0
    slowness: tuple[Ratio, ...] = ()
    pieces: tuple[Ratio, ...] = ()


def durations(program: Program, times: Times) -> list[list[Seconds]]:
    """Return the time of every operation of every rank.

    Raises:
        ValueError: there are not as many pieces as the schedule has parts.
    """
    ranks = len(program.steps)
    slowness = times.slowness or (1.0,) * ranks
    if times.pieces:
        if len(times.pieces) != ranks * program.num_parts:
            raise ValueError(f"{len(times.pieces)} pieces for {ranks * program.num_parts} parts")
        return [
            [_of(times, op, pieces, factor / program.num_parts) for op in order]
            for order, pieces, factor in zip(
                program.orders, _of_ranks(program, times), slowness, strict=True
            )
        ]
    costs = [_of_kinds(times, factor / program.num_parts) for factor in slowness]
    return [
        [cost[step[0]] for step in steps] for cost, steps in zip(costs, program.steps, strict=True)
    ]


def _of_ranks(program: Program, times: Times) -> list[list[Ratio]]:
    return [[times.pieces[place] for place in places] for places in program.places]


def _of(times: Times, op: Op, pieces: Sequence[Ratio], factor: Ratio) -> Seconds:
    """Return the time of an operation on pieces that differ: of a pair each half by its own."""
    if op.kind != PAIR:
        return pieces[op.chunk] * _of_kinds(times, factor)[op.kind]
    ahead, back = times.forward, times.backward_input + times.backward_weight
    again = times.forward if times.recompute else 0.0
    here, there = pieces[op.chunk], pieces[op.back_chunk]
    overlapped = times.pair / (ahead + back)
    return factor * (overlapped * (ahead * here + back * there) + again * there)


def _of_kinds(times: Times, factor: Ratio) -> tuple[Seconds, ...]:
    """Return the time of each kind of operation, in the order of the kinds."""
    again = times.forward if times.recompute else 0.0
    ahead, back, weight = times.forward, times.backward_input + again, times.backward_weight
    return tuple(factor * t for t in (ahead, back + weight, back, weight, times.pair + again))
