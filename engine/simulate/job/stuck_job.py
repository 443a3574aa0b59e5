"""Hung job: hosts issue collectives in order; a watchdog fires when one is not done in time.

The n-th collective of a process group starts when every member has issued its n-th, and never ends
if their types or sizes differ. Collectives of a group run in order on one stream. A host goes on
after it has issued a collective and stops where the program synchronizes with the GPU. Source:
PyTorch, ProcessGroupNCCL (`seqCollective_`, `WorkNCCL::checkTimeout`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from engine.core.units import Count, Seconds

COMPUTE, COLLECTIVE, SYNCHRONIZE, HOST, DEATH = (
    "compute",
    "collective",
    "synchronize",
    "host",
    "death",
)
WORLD = "default_pg"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of a rank's program.

    Attributes:
        kind: COMPUTE, COLLECTIVE, SYNCHRONIZE, HOST (anything beside the GPU) or DEATH.
        seconds: its time; of a collective, from the arrival of the last member.
        name, elements: type and size of a collective.
        group: process group of a collective.
        frame: line of Python in which the host is meanwhile.
    """

    kind: str
    seconds: Seconds = 0.0
    name: str = ""
    elements: Count = 0
    group: str = WORLD
    frame: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A collective as one rank has issued it.

    Attributes:
        sequence: its number in the group, from 1.
        issued, end: times; infinite if it never ends.
    """

    operation: Operation
    sequence: Count
    issued: Seconds
    end: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An activity of a host from `start` to `end`."""

    operation: Operation
    start: Seconds
    end: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupState:
    """A rank's place in a process group at a moment.

    Attributes:
        issued, completed: numbers of its last collectives.
        waiting: first collective that is issued and not completed.
    """

    group: str
    issued: Count
    completed: Count
    waiting: Work | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """The outcome of a job.

    Attributes:
        hosts: by rank, what the host did; the last interval may have no end.
        works: by rank, its collectives.
        dead: ranks whose process is gone.
        fired: time at which the first watchdog fires; infinite if none does.
        stalled: end of the last collective before that.
    """

    hosts: tuple[tuple[Interval, ...], ...]
    works: tuple[tuple[Work, ...], ...]
    dead: frozenset[Count]
    fired: Seconds
    stalled: Seconds

    @property
    def end(self) -> Seconds:
        """Return when the job is over: the watchdog fires, or every host has finished."""
        last = max(spans[-1].end for spans in self.hosts)
        return min(self.fired, last)

    def frame(self, rank: Count) -> str:
        """Return the line in which a rank's host is at the end."""
        spans = self.hosts[rank]
        inside = [span for span in spans if span.start <= self.end <= span.end]
        return (inside or spans)[-1].operation.frame

    def groups(self, rank: Count) -> tuple[GroupState, ...]:
        """Return the state of a rank's process groups at the end."""
        issued = [work for work in self.works[rank] if work.issued <= self.end]
        names = dict.fromkeys(work.operation.group for work in issued)
        return tuple(_group_state(name, issued, self.end) for name in names)


def _group_state(group: str, issued: Sequence[Work], time: Seconds) -> GroupState:
    works = [work for work in issued if work.operation.group == group]
    open_works = [work for work in works if work.end > time]
    return GroupState(
        group=group,
        issued=len(works),
        completed=len(works) - len(open_works),
        waiting=open_works[0] if open_works else None,
    )


@dataclass(slots=True)
class _Rank:
    """A host in the middle of its program."""

    program: Sequence[Operation]
    place: Count = 0
    clock: Seconds = 0.0
    hosts: list[Interval] = field(default_factory=list)
    issued: dict[str, list[tuple[Operation, Seconds]]] = field(default_factory=dict)

    def step(self, operation: Operation, end: Seconds) -> None:
        self.hosts.append(Interval(operation=operation, start=self.clock, end=end))
        self.clock = end
        self.place += 1


def simulate_job(
    programs: Sequence[Sequence[Operation]],
    groups: Mapping[str, Sequence[Count]],
    timeout: Seconds,
) -> JobOutcome:
    """Return the outcome of one program per rank; `groups` names the members of each group."""
    ranks = [_Rank(program=program) for program in programs]
    while any(_advance(rank, ranks, groups) for rank in ranks):
        pass
    for rank in ranks:
        if rank.place < len(rank.program) and rank.program[rank.place].kind == SYNCHRONIZE:
            rank.step(rank.program[rank.place], inf)
    works = tuple(tuple(_works(rank, ranks, groups)) for rank in ranks)
    dead = frozenset(n for n, rank in enumerate(ranks) if _is_dead(rank))
    late = [
        work.issued + timeout
        for number, rank_works in enumerate(works)
        for work in rank_works
        if number not in dead and work.end - work.issued > timeout
    ]
    fired = min(late, default=inf)
    ends = [
        work.end
        for rank_works in works
        for work in rank_works
        if work.end <= fired and work.end < inf
    ]
    return JobOutcome(
        hosts=tuple(tuple(rank.hosts) for rank in ranks),
        works=works,
        dead=dead,
        fired=fired,
        stalled=max(ends, default=0.0),
    )


def _is_dead(rank: _Rank) -> bool:
    return any(span.operation.kind == DEATH for span in rank.hosts)


def _advance(rank: _Rank, ranks: Sequence[_Rank], groups: Mapping[str, Sequence[Count]]) -> bool:
    """Run a host as far as it gets; return whether it got anywhere."""
    before = rank.place
    while rank.place < len(rank.program) and rank.clock < inf:
        operation = rank.program[rank.place]
        if operation.kind == SYNCHRONIZE:
            end = _synchronized(rank, ranks, groups)
            if end is None:
                break
            rank.step(operation, end)
        elif operation.kind == COLLECTIVE:
            rank.issued.setdefault(operation.group, []).append((operation, rank.clock))
            rank.place += 1
        elif operation.kind == DEATH:
            rank.step(operation, inf)
        else:
            rank.step(operation, rank.clock + operation.seconds)
    return rank.place > before


def _synchronized(
    rank: _Rank, ranks: Sequence[_Rank], groups: Mapping[str, Sequence[Count]]
) -> Seconds | None:
    """Return when all issued collectives of a rank are done; None while that is open."""
    end = rank.clock
    for group, issued in rank.issued.items():
        done = _completion(group, len(issued), ranks, groups)
        if done is None:
            return None
        end = max(end, done)
    return end


def _completion(
    group: str, count: Count, ranks: Sequence[_Rank], groups: Mapping[str, Sequence[Count]]
) -> Seconds | None:
    """Return when the first `count` collectives of a group are done; None if one is missing."""
    members = [ranks[number].issued.get(group, []) for number in groups[group]]
    if any(len(issued) < count for issued in members):
        return None
    end = 0.0
    for number in range(count):
        calls = [issued[number] for issued in members]
        same = len({(call.name, call.elements) for call, _ in calls}) == 1
        arrived = max(time for _, time in calls)
        end = max(end, arrived) + (max(call.seconds for call, _ in calls) if same else inf)
    return end


def _works(
    rank: _Rank, ranks: Sequence[_Rank], groups: Mapping[str, Sequence[Count]]
) -> Iterator[Work]:
    for group, issued in rank.issued.items():
        for number, (operation, time) in enumerate(issued, start=1):
            end = _completion(group, number, ranks, groups)
            yield Work(
                operation=operation,
                sequence=number,
                issued=time,
                end=inf if end is None else end,
            )
