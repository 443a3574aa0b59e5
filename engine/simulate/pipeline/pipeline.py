"""Simulation of a pipeline step: start and end of every operation on every rank.

Each rank does its operations in order, as soon as what they need has arrived. Messages travel while
the ranks compute; those on the same wire and way follow one another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import fsum

from engine.core import registry
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
    parts,
    rank_of,
    stage_of,
)
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds

# Pipeline orders as numbers: input and output tokens of each operation.
#
# A token stands for a forward result of a stage that arrived at the next one, or for the gradient
# of a stage that arrived at the one before. The simulator only sees tokens, so it need not know
# stages.

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
    chunk_stage = stage_of(rank, chunk, ranks, placement)
    first = is_first(chunk_stage, ranks, placement)
    last = is_last(chunk_stage, ranks, num_chunks, placement)
    back = 1 + ranks * num_chunks * num

    def wire(stage: int) -> int:
        other = rank_of(stage, ranks, placement)
        return _NO_WIRE if other == rank else 2 * rank + ((other - rank) % ranks != 1)

    ahead = _ChunkTokens(
        need=-1 if first else 1 + (chunk_stage - 1) * num,
        give=-1 if last else 1 + chunk_stage * num,
        wire=_NO_WIRE if last else wire(chunk_stage + 1),
    )
    return ahead, _ChunkTokens(
        need=-1 if last else back + (chunk_stage + 1) * num,
        give=-1 if first else back + chunk_stage * num,
        wire=_NO_WIRE if first else wire(chunk_stage - 1),
    )


def _steps(
    order: Sequence[Op], ways: Sequence[tuple[_ChunkTokens, _ChunkTokens]]
) -> tuple[ProgramStep, ...]:
    steps: list[ProgramStep] = []
    for kind, microbatch, chunk, back_microbatch, back_chunk in order:
        if kind == WEIGHT:
            steps.append((kind, READY, READY, ()))
            continue
        passage = ways[chunk][kind in (BACKWARD, INPUT)]
        need = passage.need + microbatch if passage.need > 0 else READY
        gives: tuple[_Output, ...] = (
            ((passage.give + microbatch, passage.wire),) if passage.give > 0 else ()
        )
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


# Durations of pipeline operations, by kind or by model part.


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
    return [[times.pieces[stage] for stage in stages] for stages in program.places]


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


PACKAGE = "engine.schedules"
# Of how many operations an order is worth keeping; longer ones cost more memory than time.
_LARGEST_CACHED = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineRun:
    """A simulated pipeline step.

    Attributes:
        program: what the ranks did, in order.
        starts, ends: of each rank's operations, in seconds from the start of the step.
        busy: seconds that each rank computed.
    """

    program: PipelineProgram
    starts: tuple[Sequence[Seconds], ...]
    ends: tuple[Sequence[Seconds], ...]
    busy: tuple[Seconds, ...]

    @property
    def length(self) -> Seconds:
        """Time from the first operation to the end of the last."""
        return max(ends[-1] for ends in self.ends)

    @property
    def period(self) -> Seconds:
        """Step time of back-to-back steps: the longest busy span of a rank.

        A rank that begins later may end later, and begins the next step as much later.
        """
        return max(
            ends[-1] - starts[0] for starts, ends in zip(self.starts, self.ends, strict=True)
        )


def simulate(
    name: str,
    pipeline_parallel: Count,
    num_microbatches: Count,
    num_chunks: Count,
    times: PipelineTimes,
) -> PipelineRun:
    """Return the simulated step of a schedule of `engine.schedules`.

    Raises:
        LookupError: there is no such schedule.
        ValueError: the schedule cannot run with these numbers.
    """
    return run_program(
        compile_schedule(name, pipeline_parallel, num_microbatches, num_chunks), times
    )


def compile_schedule(
    name: str, pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count
) -> PipelineProgram:
    """Return the compiled orders of a schedule. Errors as `simulate`."""
    small = pipeline_parallel * num_microbatches * num_chunks * 2 <= _LARGEST_CACHED
    make = _cached_compile if small else _compile
    return make(name, pipeline_parallel, num_microbatches, num_chunks)


def _compile(
    name: str, pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count
) -> PipelineProgram:
    schedule = registry.module(PACKAGE, name)
    if why := schedule.obstacle(pipeline_parallel, num_microbatches):
        raise ValueError(
            f"{schedule.TITLE} {why}, not {pipeline_parallel} stages and "
            f"{num_microbatches} micro-batches"
        )
    if num_chunks not in schedule.CHUNKS:
        allowed = f"{schedule.CHUNKS[0]} to {schedule.CHUNKS[-1]}"
        raise ValueError(f"{schedule.TITLE} has {allowed} chunks per rank, not {num_chunks}")
    orders = tuple(
        tuple(schedule.order(rank, pipeline_parallel, num_microbatches, num_chunks))
        for rank in range(pipeline_parallel)
    )
    num_parts = parts(num_chunks, schedule.PLACEMENT)
    return build_program(orders, num_microbatches, num_chunks, schedule.PLACEMENT, num_parts)


_cached_compile = lru_cache(maxsize=64)(_compile)


def run_program(program: PipelineProgram, times: PipelineTimes) -> PipelineRun:
    """Return the simulated step of compiled orders.

    Raises:
        ValueError: the ranks wait for one another, the message names their operations; or there
            are not as many pieces as parts.
    """
    costs = durations(program, times)
    transfer = times.message / times.bandwidth if times.bandwidth else 0.0
    starts, ends = _simulate_ranks(program, costs, times.latency, transfer)
    # Exact, for the sum of floats depends on the version of Python.
    busy = tuple(map(fsum, costs))
    return PipelineRun(program=program, starts=starts, ends=ends, busy=busy)


def _simulate_ranks(
    program: PipelineProgram,
    costs: Sequence[Sequence[Seconds]],
    latency: Seconds,
    transfer: Seconds,
) -> tuple[tuple[list[Seconds], ...], tuple[list[Seconds], ...]]:
    """Return the start and end times of all operations; a rank runs until an input is missing."""
    ranks = len(program.steps)
    starts, ends = _empty_lists(ranks), _empty_lists(ranks)
    arrivals = [0.0 if token == READY else -1.0 for token in range(program.num_tokens)]
    waiting = [-1] * program.num_tokens
    wires = [0.0] * (2 * ranks)
    runnable = list(range(ranks))
    while runnable:
        rank = runnable.pop()
        began, ended, cost, steps = starts[rank], ends[rank], costs[rank], program.steps[rank]
        now = ended[-1] if ended else 0.0
        for turn in range(len(ended), len(steps)):
            _, need, also, gives = steps[turn]
            first, second = arrivals[need], arrivals[also]
            if first < 0 or second < 0:
                waiting[need if first < 0 else also] = rank
                break
            now = max(now, first, second)
            began.append(now)
            now += cost[turn]
            ended.append(now)
            for token, wire in gives:
                arrivals[token] = now
                if wire >= 0:
                    wires[wire] = sent = max(now, wires[wire]) + transfer
                    arrivals[token] = sent + latency
                if waiting[token] >= 0:
                    runnable.append(waiting[token])
    _check_finished(program, ends)
    return starts, ends


def _empty_lists(count: Count) -> tuple[list[Seconds], ...]:
    return tuple([] for _ in range(count))


def _check_finished(program: PipelineProgram, ends: Sequence[Sequence[Seconds]]) -> None:
    stuck = [
        f"rank {rank} waits to do the {describe(order[len(done)])}"
        for rank, (order, done) in enumerate(zip(program.orders, ends, strict=True))
        if len(done) < len(order)
    ]
    if stuck:
        more = f"; and {len(stuck) - 4} more" if len(stuck) > 4 else ""
        raise ValueError("deadlock: " + "; ".join(stuck[:4]) + more)
