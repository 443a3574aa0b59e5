"""Collectives of a trace: the same one on several ranks, who came last, and the bus bandwidth.

A collective's kernel starts on each rank when that rank gets to it and runs until all are done. The
rank that came last runs it for the shortest time; what the others run it longer is their waiting.
This needs no common clock. Messages between two ranks (send, receive) are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.core.units import Bandwidth, Bytes, Count, Seconds
from engine.formulas.bandwidth import Operation, bus_bandwidth
from engine.run.traces.document import Collective, RankTrace
from engine.simulate.measured.steadiness import quantile
from engine.simulate.profile_analysis.account import Sorted
from engine.simulate.profile_analysis.rules import COMMUNICATION_CLASS
from engine.simulate.profile_analysis.steps import Steps

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
class Matched:
    """One collective as several ranks ran it.

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
        """From the last rank's arrival on."""
        return self.times[self.late]

    def wait(self, rank: int) -> Seconds:
        """Return how long a rank waited for the last one."""
        return self.times[rank] - self.alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Collectives of one name, size and group size on one rank.

    Attributes:
        name: as PyTorch calls it.
        size: of the buffer; 0 if it is not recorded.
        ranks: of the group; 0 likewise.
        count: how often it ran.
        total: of its kernels' times.
        median: of what counts for the bandwidth: from the last rank's arrival on where all the
            traces that are here have it, otherwise the whole kernel, waiting included.
        bus: bandwidth by nccl-tests' convention; 0 where it cannot be computed.
    """

    name: str
    size: Bytes
    ranks: Count
    count: Count
    total: Seconds
    median: Seconds
    bus: Bandwidth


def operation_of(name: str) -> Operation | None:
    """Return what nccl-tests calls a collective that PyTorch names; None: it has no bandwidth."""
    return _OPERATIONS.get(name.lower().replace("_", ""))


def matched(ranks: Sequence[Sorted], steps: Sequence[Steps]) -> tuple[Matched, ...]:
    """Return the collectives that at least two ranks ran, matched by step, name, size and turn.

    Where a step holds more of a kind on one rank than on another, that kind is left out of it.
    """
    found: list[dict[Key, list[int]]] = [
        _by_key(one, of) for one, of in zip(ranks, steps, strict=True)
    ]
    keys = dict.fromkeys(key for own in found for key in own)
    return tuple(each for key in keys for each in _turns(ranks, found, key))


def _turns(
    ranks: Sequence[Sorted], found: Sequence[Mapping[Key, Sequence[int]]], key: Key
) -> Iterator[Matched]:
    own = {place: events[key] for place, events in enumerate(found) if key in events}
    if len(own) < 2 or len({len(events) for events in own.values()}) != 1:
        return
    for turn in range(len(next(iter(own.values())))):
        events = {place: own[place][turn] for place in own}
        times = {
            place: ranks[place].trace.end[at] - ranks[place].trace.start[at]
            for place, at in events.items()
        }
        yield Matched(events=events, times=times, late=min(times, key=lambda place: times[place]))


def _by_key(one: Sorted, steps: Steps) -> dict[Key, list[int]]:
    found: dict[Key, list[int]] = {}
    windows = list(zip(steps.numbers, steps.windows, strict=True))
    turn = 0
    for at in communication(one):
        start = one.trace.start[at]
        while turn < len(windows) and start >= windows[turn][1][1]:
            turn += 1
        if turn == len(windows):
            break
        call = one.trace.calls.get(at)
        if start < windows[turn][1][0] or (call and call.name.lower() in _PAIRS):
            continue
        number = windows[turn][0]
        found.setdefault(_key(one.trace, at, number, call), []).append(at)
    return found


def _key(trace: RankTrace, at: int, number: Count, call: Collective | None) -> Key:
    if call:
        return number, call.name, call.size, call.group
    return number, trace.names[trace.name[at]][1], 0.0, ""


def communication(one: Sorted) -> Iterator[int]:
    """Yield the places of a rank's events that are communication, in the order of their starts."""
    own = [bits == COMMUNICATION_CLASS for bits in one.classes]
    return (at for at, name in enumerate(one.trace.name) if own[name])


def waits(ranks: Count, found: Sequence[Matched]) -> tuple[tuple[Seconds, ...], ...]:
    """Return [who waits][for whom]: seconds in all."""
    table = [[0.0] * ranks for _ in range(ranks)]
    for one in found:
        for rank in one.times:
            table[rank][one.late] += one.wait(rank)
    return tuple(map(tuple, table))


def clock_offset(ranks: Sequence[Sorted], found: Sequence[Matched], rank: int) -> Seconds | None:
    """Return how far a rank's clock is ahead of the first rank's; None where nothing tells.

    A collective ends at nearly the same moment on all its ranks.
    """
    shared = [one for one in found if rank in one.events and 0 in one.events]
    if not shared:
        return None

    def moment(place: int, at: int) -> Seconds:
        return ranks[place].trace.end[at]

    origins = ranks[rank].trace.origin - ranks[0].trace.origin
    apart = [moment(rank, one.events[rank]) - moment(0, one.events[0]) for one in shared]
    return origins + quantile(apart, 0.5)


def kinds(
    one: Sorted, window: tuple[Seconds, Seconds], place: int, found: Sequence[Matched]
) -> tuple[Kind, ...]:
    """Return a rank's collectives in a stretch of time, those that take the most time first."""
    alone = {each.events[place]: each.alone for each in found if place in each.events}
    rows: dict[tuple[str, Bytes, Count], list[int]] = {}
    for at in communication(one):
        if window[0] <= one.trace.start[at] < window[1]:
            call = one.trace.calls.get(at)
            name = one.trace.names[one.trace.name[at]][1]
            key = (call.name, call.size, call.ranks) if call else (name, 0.0, 0)
            rows.setdefault(key, []).append(at)
    told = (_kind(one.trace, key, events, alone) for key, events in rows.items())
    return tuple(sorted(told, key=lambda kind: -kind.total))


def _kind(
    trace: RankTrace,
    key: tuple[str, Bytes, Count],
    events: Sequence[int],
    alone: Mapping[int, Seconds],
) -> Kind:
    name, size, ranks = key
    times = [trace.end[at] - trace.start[at] for at in events]
    median = quantile([alone.get(at, time) for at, time in zip(events, times, strict=True)], 0.5)
    operation = operation_of(name)
    bus = 0.0
    if operation and size and ranks > 1 and median > 0:
        bus = bus_bandwidth(size, median, operation, ranks)
    return Kind(
        name=name,
        size=size,
        ranks=ranks,
        count=len(events),
        total=sum(times),
        median=median,
        bus=bus,
    )
