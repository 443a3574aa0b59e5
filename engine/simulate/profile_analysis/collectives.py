"""Collectives of a trace: matching across ranks, late ranks and bus bandwidth.

A collective's kernel starts on each rank when that rank gets to it and runs until all are done. The
rank that came last runs it for the shortest time; what the others run it longer is their waiting.
This needs no common clock. Messages between two ranks (send, receive) are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.core.units import Bandwidth, Bytes, Count, Seconds
from engine.formulas.bandwidth import Operation, bus_bandwidth
from engine.run.traces.document import RankTrace, TracedCollective
from engine.simulate.measured.steadiness import quantile
from engine.simulate.profile_analysis.account import ClassifiedTrace
from engine.simulate.profile_analysis.rules import COMMUNICATION_CLASS
from engine.simulate.profile_analysis.steps import TraceSteps

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
    keys = dict.fromkeys(key for own in events_by_key for key in own)
    return tuple(each for key in keys for each in _matches_of_key(ranks, events_by_key, key))


def _matches_of_key(
    ranks: Sequence[ClassifiedTrace], events_by_key: Sequence[Mapping[Key, Sequence[int]]], key: Key
) -> Iterator[MatchedCollective]:
    events_of_key = {
        place: events[key] for place, events in enumerate(events_by_key) if key in events
    }
    if len(events_of_key) < 2 or len({len(events) for events in events_of_key.values()}) != 1:
        return
    for turn in range(len(next(iter(events_of_key.values())))):
        events = {place: events_of_key[place][turn] for place in events_of_key}
        times = {
            place: ranks[place].trace.end[at] - ranks[place].trace.start[at]
            for place, at in events.items()
        }
        yield MatchedCollective(
            events=events, times=times, late=min(times, key=lambda place: times[place])
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
    own = [bits == COMMUNICATION_CLASS for bits in classified.classes]
    return (at for at, name in enumerate(classified.trace.name) if own[name])


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

    def moment(place: int, at: int) -> Seconds:
        return ranks[place].trace.end[at]

    origins = ranks[rank].trace.origin - ranks[0].trace.origin
    apart = [
        moment(rank, collective.events[rank]) - moment(0, collective.events[0])
        for collective in shared
    ]
    return origins + quantile(apart, 0.5)


def collective_kinds(
    classified: ClassifiedTrace,
    window: tuple[Seconds, Seconds],
    place: int,
    collectives: Sequence[MatchedCollective],
) -> tuple[CollectiveKind, ...]:
    """Return a rank's collectives in a time window by kind, the longest first."""
    alone = {
        collective.events[place]: collective.alone
        for collective in collectives
        if place in collective.events
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
