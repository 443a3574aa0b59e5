"""Collectives of a trace: matching across ranks, late ranks and bus bandwidth.

A collective's kernel starts on each rank when that rank gets to it and runs until all are done. The
rank that came last runs it for the shortest time; what the others run it longer is their waiting.
This needs no common clock. Messages between two ranks (send, receive) are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from engine.core.units import Bandwidth, Bytes, Count, Seconds, Share
from engine.formulas.bandwidth import Operation, bus_bandwidth
from engine.run.traces.document import ProfilerStep, RankTrace, TracedCollective
from engine.simulate.measured.steadiness import quantile
from engine.simulate.profile_analysis.account import ClassifiedTrace
from engine.simulate.profile_analysis.rules import COMMUNICATION_CLASS

# Step boundaries of a trace, from profiler marks or repeating kernels.

StepSource = Literal["device", "host", "repetition", "none"]
# So much of the kernels must be the same one period later.
_SAME: Share = 0.95
# The periods found must cover so much of the kernels.
_COVERED: Share = 0.6
# Marks on the GPU that cover less than this of those on the host cover a part of the step only.
_LEAST_COVERED: Share = 0.5
_MOST_COMPARED: Count = 20_000
_MOST_TRIED: Count = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSteps:
    """Step boundaries of a trace.

    Attributes:
        by: the profiler's marks on the GPU, its marks on the host, repetition, or nothing at all:
            then the whole trace is one step.
        numbers: of each step.
        starts: of each step.
        end: of the last.
    """

    by: StepSource
    numbers: tuple[Count, ...]
    starts: tuple[Seconds, ...]
    end: Seconds

    @property
    def windows(self) -> tuple[tuple[Seconds, Seconds], ...]:
        """(start, end) of each step."""
        ends = (*self.starts[1:], self.end)
        return tuple(zip(self.starts, ends, strict=True))


def trace_steps(trace: RankTrace) -> TraceSteps:
    """Return the step boundaries of a trace."""
    last = max(trace.end)
    marked = {device: _marks(trace, last, device=device) for device in (True, False)}
    if _covers(marked[True], marked[False]):
        device_marks = marked[True]
        # The step is over when the GPU is done; on the host it ends with the mark.
        end = max(device_marks[-1].end, *(mark.end for mark in device_marks))
        return _steps("device", device_marks, end)
    if marked[False]:
        return _steps("host", marked[False], marked[False][-1].end)
    starts = _repeated_starts(trace)
    if starts:
        return TraceSteps(
            by="repetition",
            numbers=tuple(range(1, len(starts))),
            starts=tuple(starts[:-1]),
            end=starts[-1],
        )
    return TraceSteps(by="none", numbers=(1,), starts=(0.0,), end=last)


def _marks(trace: RankTrace, last: Seconds, *, device: bool) -> list[ProfilerStep]:
    """Return the marks of steps on the GPU or on the host, the first step first."""
    marks = {mark.number: mark for mark in trace.steps if mark.device == device}
    within = [mark for mark in marks.values() if mark.start < last and mark.end > 0]
    return sorted(within, key=lambda mark: mark.start)


def _covers(device: Sequence[ProfilerStep], host: Sequence[ProfilerStep]) -> bool:
    """Return whether the marks on the GPU cover their steps.

    Kineto counts what the GPU runs to the innermost annotation. Of a step whose parts are annotated
    as well, the mark on the GPU covers only the rest, which may be one copy.
    """
    lengths = [sum(mark.end - mark.start for mark in marks) for marks in (device, host)]
    return bool(device) and lengths[0] >= _LEAST_COVERED * lengths[1]


def _steps(by: StepSource, marks: Sequence[ProfilerStep], end: Seconds) -> TraceSteps:
    return TraceSteps(
        by=by,
        numbers=tuple(mark.number for mark in marks),
        starts=tuple(mark.start for mark in marks),
        end=max(end, marks[-1].start),
    )


def _repeated_starts(trace: RankTrace) -> list[Seconds]:
    """Return the starts of repeating periods on the busiest stream, and their end."""
    events = _busiest(trace)
    names = [trace.name[at] for at in events]
    period, first, count = find_period(names)
    if not count:
        return []
    starts = [trace.start[events[first + turn * period]] for turn in range(count)]
    after = first + count * period
    end = trace.start[events[after]] if after < len(events) else max(trace.end)
    return [*starts, end]


def _busiest(trace: RankTrace) -> list[int]:
    """Return the events of the busiest stream."""
    counts = [0] * len(trace.streams)
    for stream in trace.stream:
        counts[stream] += 1
    busiest = counts.index(max(counts))
    return [at for at, stream in enumerate(trace.stream) if stream == busiest]


def find_period(names: Sequence[int]) -> tuple[Count, int, Count]:
    """Return (length, place of the first, number) of the periods of a sequence; number 0: none.

    Layers repeat as well, but not all that a step holds does: a period begins where something
    rare, such as the optimizer, comes again, and almost everything must be the same one period
    later.
    """
    positions_by_kernel: dict[int, list[int]] = {}
    for at, name in enumerate(names):
        positions_by_kernel.setdefault(name, []).append(at)
    rare = sorted(
        (positions for positions in positions_by_kernel.values() if len(positions) >= 2), key=len
    )
    tried: set[int] = set()
    for positions in rare:
        gaps = sorted(b - a for a, b in pairwise(positions))
        period = gaps[len(gaps) // 2]
        if period in tried or period < 2:
            continue
        tried.add(period)
        if len(tried) > _MOST_TRIED:
            break
        count = len(names) // period
        if count >= 2 and count * period >= _COVERED * len(names) and _repeats(names, period):
            return period, 0, count
    return 0, 0, 0


def _repeats(names: Sequence[int], period: Count) -> bool:
    pairs = len(names) - period
    every = max(1, pairs // _MOST_COMPARED)
    compared = range(0, pairs, every)
    return sum(names[at] == names[at + period] for at in compared) >= _SAME * len(compared)


# PyTorch's names, without underscores.
_OPERATIONS: Mapping[str, Operation] = {
    "allreduce": "all_reduce",
    "allreducecoalesced": "all_reduce",
    "allgather": "all_gather",
    "allgatherbase": "all_gather",
    "allgatherintotensorcoalesced": "all_gather",
    "reducescatter": "reduce_scatter",
    "reducescatterbase": "reduce_scatter",
    "reducescattertensorcoalesced": "reduce_scatter",
    "alltoall": "all_to_all",
    "alltoallbase": "all_to_all",
    "alltoallv": "all_to_all",
    "broadcast": "broadcast",
    "reduce": "reduce",
}
_PAIRS = frozenset({"send", "recv"})
Key = tuple[Count, str, Bytes, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedCollective:
    """A collective matched across several ranks.

    Attributes:
        events: rank's place in the list of traces -> place of the event.
        times: rank's place -> how long its kernel ran.
        late: the rank that came last.
    """

    events: Mapping[int, int]
    times: Mapping[int, Seconds]
    late: int

    @property
    def alone(self) -> Seconds:
        """Collective time from the last rank's arrival on."""
        return self.times[self.late]

    def wait(self, rank: int) -> Seconds:
        """Return the time that a rank waited for the last one."""
        return self.times[rank] - self.alone


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveKind:
    """Collectives of one name, size and group size on one rank.

    Attributes:
        name: as PyTorch calls it.
        size: of the buffer; 0 if it is not recorded.
        ranks: of the group; 0 likewise.
        count: how often it ran.
        total: of its kernels' times.
        median: of what counts for the bandwidth: from the last rank's arrival on where all the
            traces that are here have it, otherwise the whole kernel, waiting included.
        bus_bandwidth: bandwidth by nccl-tests' convention; 0 where it cannot be computed.
    """

    name: str
    size: Bytes
    ranks: Count
    count: Count
    total: Seconds
    median: Seconds
    bus_bandwidth: Bandwidth


def nccl_operation(name: str) -> Operation | None:
    """Return the nccl-tests operation of a PyTorch collective; None if it has no bandwidth."""
    return _OPERATIONS.get(name.lower().replace("_", ""))


def match_collectives(
    ranks: Sequence[ClassifiedTrace], steps: Sequence[TraceSteps]
) -> tuple[MatchedCollective, ...]:
    """Return the collectives of at least two ranks, matched by step, name, size and order.

    Where a step holds more of a kind on one rank than on another, that kind is left out of it.
    """
    events_by_key: list[dict[Key, list[int]]] = [
        _events_by_key(classified, rank_steps)
        for classified, rank_steps in zip(ranks, steps, strict=True)
    ]
    keys = dict.fromkeys(key for events in events_by_key for key in events)
    return tuple(each for key in keys for each in _matches_of_key(ranks, events_by_key, key))


def _matches_of_key(
    ranks: Sequence[ClassifiedTrace], events_by_key: Sequence[Mapping[Key, Sequence[int]]], key: Key
) -> Iterator[MatchedCollective]:
    events_of_key = {
        rank: events[key] for rank, events in enumerate(events_by_key) if key in events
    }
    if len(events_of_key) < 2 or len({len(events) for events in events_of_key.values()}) != 1:
        return
    for turn in range(len(next(iter(events_of_key.values())))):
        events = {rank: events_of_key[rank][turn] for rank in events_of_key}
        times = {
            rank: ranks[rank].trace.end[at] - ranks[rank].trace.start[at]
            for rank, at in events.items()
        }
        yield MatchedCollective(
            events=events, times=times, late=min(times, key=lambda rank: times[rank])
        )


def _events_by_key(classified: ClassifiedTrace, steps: TraceSteps) -> dict[Key, list[int]]:
    events_by_key: dict[Key, list[int]] = {}
    windows = list(zip(steps.numbers, steps.windows, strict=True))
    turn = 0
    for at in communication_events(classified):
        start = classified.trace.start[at]
        while turn < len(windows) and start >= windows[turn][1][1]:
            turn += 1
        if turn == len(windows):
            break
        call = classified.trace.calls.get(at)
        if start < windows[turn][1][0] or (call and call.name.lower() in _PAIRS):
            continue
        number = windows[turn][0]
        events_by_key.setdefault(_key(classified.trace, at, number, call), []).append(at)
    return events_by_key


def _key(trace: RankTrace, at: int, number: Count, call: TracedCollective | None) -> Key:
    if call:
        return number, call.name, call.size, call.group
    return number, trace.names[trace.name[at]][1], 0.0, ""


def communication_events(classified: ClassifiedTrace) -> Iterator[int]:
    """Yield the indices of a rank's communication events, in start order."""
    is_communication = [bits == COMMUNICATION_CLASS for bits in classified.classes]
    return (at for at, name in enumerate(classified.trace.name) if is_communication[name])


def wait_table(
    num_ranks: Count, collectives: Sequence[MatchedCollective]
) -> tuple[tuple[Seconds, ...], ...]:
    """Return total waiting seconds as [waiting rank][late rank]."""
    table = [[0.0] * num_ranks for _ in range(num_ranks)]
    for collective in collectives:
        for rank in collective.times:
            table[rank][collective.late] += collective.wait(rank)
    return tuple(map(tuple, table))


def clock_offset(
    ranks: Sequence[ClassifiedTrace], collectives: Sequence[MatchedCollective], rank: int
) -> Seconds | None:
    """Return the clock offset of a rank to the first rank; None if unknown.

    A collective ends at nearly the same moment on all its ranks.
    """
    shared = [
        collective
        for collective in collectives
        if rank in collective.events and 0 in collective.events
    ]
    if not shared:
        return None

    def moment(rank_index: int, at: int) -> Seconds:
        return ranks[rank_index].trace.end[at]

    origins = ranks[rank].trace.origin - ranks[0].trace.origin
    apart = [
        moment(rank, collective.events[rank]) - moment(0, collective.events[0])
        for collective in shared
    ]
    return origins + quantile(apart, 0.5)


def collective_kinds(
    classified: ClassifiedTrace,
    window: tuple[Seconds, Seconds],
    rank: int,
    collectives: Sequence[MatchedCollective],
) -> tuple[CollectiveKind, ...]:
    """Return a rank's collectives in a time window by kind, the longest first."""
    alone = {
        collective.events[rank]: collective.alone
        for collective in collectives
        if rank in collective.events
    }
    rows: dict[tuple[str, Bytes, Count], list[int]] = {}
    for at in communication_events(classified):
        if window[0] <= classified.trace.start[at] < window[1]:
            call = classified.trace.calls.get(at)
            name = classified.trace.names[classified.trace.name[at]][1]
            key = (call.name, call.size, call.ranks) if call else (name, 0.0, 0)
            rows.setdefault(key, []).append(at)
    results = (_kind(classified.trace, key, events, alone) for key, events in rows.items())
    return tuple(sorted(results, key=lambda kind: -kind.total))


def _kind(
    trace: RankTrace,
    key: tuple[str, Bytes, Count],
    events: Sequence[int],
    alone: Mapping[int, Seconds],
) -> CollectiveKind:
    name, size, ranks = key
    times = [trace.end[at] - trace.start[at] for at in events]
    median = quantile([alone.get(at, time) for at, time in zip(events, times, strict=True)], 0.5)
    operation = nccl_operation(name)
    bus = 0.0
    if operation and size and ranks > 1 and median > 0:
        bus = bus_bandwidth(size, median, operation, ranks)
    return CollectiveKind(
        name=name,
        size=size,
        ranks=ranks,
        count=len(events),
        total=sum(times),
        median=median,
        bus_bandwidth=bus,
    )
