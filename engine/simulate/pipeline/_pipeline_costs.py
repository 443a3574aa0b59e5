"""Durations of pipeline operations, by kind or by model part."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.pipeline_op import PAIR, Op
from engine.core.units import Bandwidth, Bytes, Ratio, Seconds
from engine.simulate.pipeline._pipeline_program import PipelineProgram


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineTimes:
    """Compute times of a rank per micro-batch, and message costs.

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


def durations(program: PipelineProgram, times: PipelineTimes) -> list[list[Seconds]]:
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
            [_operation_time(times, op, pieces, factor / program.num_parts) for op in order]
            for order, pieces, factor in zip(
                program.orders, _pieces_by_rank(program, times), slowness, strict=True
            )
        ]
    costs = [_kind_times(times, factor / program.num_parts) for factor in slowness]
    return [
        [cost[step[0]] for step in steps] for cost, steps in zip(costs, program.steps, strict=True)
    ]


def _pieces_by_rank(program: PipelineProgram, times: PipelineTimes) -> list[list[Ratio]]:
    return [[times.pieces[place] for place in places] for places in program.places]


def _operation_time(
    times: PipelineTimes, op: Op, pieces: Sequence[Ratio], factor: Ratio
) -> Seconds:
    """Return the time of an operation on unequal model parts."""
    if op.kind != PAIR:
        return pieces[op.chunk] * _kind_times(times, factor)[op.kind]
    ahead, back = times.forward, times.backward_input + times.backward_weight
    recomputed = times.forward if times.recompute else 0.0
    own_piece, other_piece = pieces[op.chunk], pieces[op.back_chunk]
    overlapped = times.pair / (ahead + back)
    return factor * (
        overlapped * (ahead * own_piece + back * other_piece) + recomputed * other_piece
    )


def _kind_times(times: PipelineTimes, factor: Ratio) -> tuple[Seconds, ...]:
    """Return the time of each kind of operation, in the order of the kinds."""
    recomputed = times.forward if times.recompute else 0.0
    ahead, back, weight = times.forward, times.backward_input + recomputed, times.backward_weight
    return tuple(factor * t for t in (ahead, back + weight, back, weight, times.pair + recomputed))
