"""Simulation of GPU streams: each runs its operations in order, after their dependencies.

A stream runs its operations in the order of the list, one at a time, as a CUDA stream does. An
operation starts when its stream is free and everything it waits for has ended. While operations
that slow computation down are running on a rank, its compute stream works at a lower rate; the
rate changes in the middle of an operation, so that the times are exact and not cut into ticks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import heappop, heappush

from engine.core.record import record
from engine.core.units import Bytes, Count, Ratio, Seconds

COMPUTE, SCALE_UP, NETWORK = "compute", "scale_up", "network"
COPY, LAUNCH = "copy", "launch"
STREAMS = (LAUNCH, COMPUTE, SCALE_UP, NETWORK, COPY)


@record
class StreamOp:
    """An operation of a stream.

    Attributes:
        key: unique in the program.
        stream: one of `STREAMS`.
        time: time with nothing else on the GPU.
        after: keys of its dependencies, beside its own stream.
        ranks: ranks whose stream it occupies; a collective starts on all of them at once.
        label: display name.
        size: bytes that each rank (the busiest) sends.
        slowdown: while it runs, computation takes 1 + `slowdown` times as long.
        links: objects it belongs to, as in `engine.views.Span`.
    """

    key: str
    stream: str
    time: Seconds
    after: tuple[str, ...] = ()
    ranks: tuple[Count, ...] = (0,)
    label: str = ""
    size: Bytes = 0.0
    slowdown: Ratio = 0.0
    links: tuple[str, ...] = ()


@record
class OpSpan:
    """Start and end of an operation since the beginning.

    Attributes:
        waited_for: key of the last dependency to end before it could start; empty if none.
    """

    op: StreamOp
    start: Seconds
    end: Seconds
    waited_for: str


def run_program(ops: Sequence[StreamOp]) -> tuple[OpSpan, ...]:
    """Return the span of every operation of a program, in the order of the list.

    Raises:
        ValueError: a duplicate operation, an unknown dependency, or a cycle.
    """
    progress = _run(ops)
    return tuple(
        OpSpan(op=op, start=start, end=end, waited_for=ops[last].key if last >= 0 else "")
        for op, start, end, last in zip(
            ops, progress.start, progress.end, progress.last, strict=True
        )
    )


def program_length(ops: Sequence[StreamOp]) -> Seconds:
    """Return the end of the last operation of a program; raises as `run_program` does."""
    return max(_run(ops).end, default=0.0)


def _run(ops: Sequence[StreamOp]) -> "_ProgramRun":
    """Return the finished run of a program."""
    waits, followers = _dependency_graph(ops)
    progress = _ProgramRun(ops)
    for index in [i for i, open_waits in enumerate(waits) if not open_waits]:
        progress.begin(index, 0.0, -1)
    for now, ended in progress.ends():
        for index in followers[ended]:
            waits[index] -= 1
            if not waits[index]:
                progress.begin(index, now, ended)
    stuck = [op.key for op, open_waits in zip(ops, waits, strict=True) if open_waits]
    if stuck:
        raise ValueError(f"{', '.join(stuck[:5])} never start: they wait for one another")
    return progress


def _dependency_graph(ops: Sequence[StreamOp]) -> tuple[list[int], list[list[int]]]:
    """Return the number of dependencies and the list of dependents of every operation."""
    index_of: dict[str, int] = {}
    last_of_lane: dict[tuple[Count, str], int] = {}
    waits = [0] * len(ops)
    followers: list[list[int]] = [[] for _ in ops]
    for index, op in enumerate(ops):
        _check_op(op, index_of)
        index_of[op.key] = index
    for index, op in enumerate(ops):
        # What is waited for twice, by name and as the stream's last, counts and ends twice.
        for key in op.after:
            if key not in index_of:
                raise ValueError(
                    f"{op.key} waits for '{key}', which is no operation of the program"
                )
            waits[index] += 1
            followers[index_of[key]].append(index)
        for rank in op.ranks:
            lane = rank, op.stream
            if lane in last_of_lane:
                waits[index] += 1
                followers[last_of_lane[lane]].append(index)
            last_of_lane[lane] = index
    return waits, followers


def _check_op(op: StreamOp, index_of: dict[str, int]) -> None:
    if op.key in index_of:
        raise ValueError(f"two operations are called '{op.key}'")
    if op.stream not in STREAMS:
        raise ValueError(f"stream is '{op.stream}'; allowed is {', '.join(STREAMS)}")
    if not op.time >= 0:
        raise ValueError(f"time of {op.key} is {op.time}; it must be 0 or more")


class _ProgramRun:
    """State of a run: running operations, pending ends, and the pace of each rank's computation."""

    def __init__(self, ops: Sequence[StreamOp]) -> None:
        self.ops = ops
        self.start = [0.0] * len(ops)
        self.end = [0.0] * len(ops)
        self.last = [-1] * len(ops)
        self._left = [op.time for op in ops]
        self._since = [0.0] * len(ops)
        self._pace = [1.0] * len(ops)  # time taken per time of work
        self._version = [0] * len(ops)
        self._heap: list[tuple[Seconds, int, int]] = []
        self._slowing: dict[Count, list[Ratio]] = {}
        self._computing: dict[Count, int] = {}

    def begin(self, index: int, now: Seconds, last: int) -> None:
        """Start an operation; `last` is the index of the dependency that ended last."""
        op = self.ops[index]
        self.start[index], self.last[index], self._since[index] = now, last, now
        if op.stream == COMPUTE:
            for rank in op.ranks:
                self._computing[rank] = index
            if self._slowing:
                self._pace[index] = self._pace_of(op)
        elif op.slowdown:
            for rank in op.ranks:
                self._slowing.setdefault(rank, []).append(op.slowdown)
                self._change(rank, now)
        heappush(self._heap, (now + self._left[index] * self._pace[index], index, 0))

    def ends(self) -> Iterator[tuple[Seconds, int]]:
        """Yield (time, operation index) of every end in order; operations may begin in between."""
        while self._heap:
            now, index, version = heappop(self._heap)
            if version != self._version[index]:
                continue
            self.end[index] = now
            op = self.ops[index]
            for rank in op.ranks:
                if op.stream == COMPUTE:
                    del self._computing[rank]
                elif op.slowdown:
                    self._slowing[rank].remove(op.slowdown)
                    self._change(rank, now)
            yield now, index

    def _pace_of(self, op: StreamOp) -> Ratio:
        return 1 + max((max(self._slowing.get(rank) or (0.0,)) for rank in op.ranks), default=0.0)

    def _change(self, rank: Count, now: Seconds) -> None:
        """Update the pace and the end of the operation that the rank computes."""
        index = self._computing.get(rank)
        if index is None:
            return
        pace = self._pace_of(self.ops[index])
        if pace == self._pace[index]:
            return
        done = (now - self._since[index]) / self._pace[index]
        self._left[index] = max(0.0, self._left[index] - done)
        self._since[index], self._pace[index] = now, pace
        self._version[index] += 1
        heappush(self._heap, (now + self._left[index] * pace, index, self._version[index]))


def with_launches(ops: Sequence[StreamOp], time: Seconds) -> tuple[StreamOp, ...]:
    """Return the program with a CPU launch of `time` before every operation.

    The CPU runs ahead of the GPU as far as it can. An operation of many kernels counts as one.
    """
    program: list[StreamOp] = []
    for op in ops:
        key = f"{op.key}:launch"
        program.append(
            StreamOp(key=key, stream=LAUNCH, time=time, ranks=op.ranks, label=f"launch: {op.label}")
        )
        program.append(replace(op, after=(*op.after, key)))
    return tuple(program)
