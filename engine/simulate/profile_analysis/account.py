"""Where a GPU's time went: computation, communication behind it and not, copies, nothing.

The words are those of Holistic Trace Analysis: what several streams do at once counts once;
communication is hidden while the GPU computes and exposed while it does not. Its "non-compute" is
what is exposed here and copies alone; its "idle" is idle here.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.core.units import Count, Seconds, Share
from engine.run.traces.document import RankTrace
from engine.simulate.profile_analysis.rules import (
    COMMUNICATION_CLASS,
    COMPUTE_CLASS,
    COPY_CLASS,
    Rules,
    class_of,
)

Stretch = tuple[Seconds, Seconds]
_MASKS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeUse:
    """A stretch of time on one GPU: `compute`, `exposed`, `copies` and `idle` are `length`.

    Attributes:
        length: of the stretch.
        compute: some computation runs.
        communication: some communication runs, beside computation or not.
        hidden: of that, while the GPU computes.
        exposed: of that, while it does not.
        copies: memory is copied or filled, and nothing else runs.
        copying: memory is copied or filled, beside other work or not.
        idle: nothing runs.
    """

    length: Seconds
    compute: Seconds
    communication: Seconds
    hidden: Seconds
    exposed: Seconds
    copies: Seconds
    copying: Seconds
    idle: Seconds

    def share(self, part: Seconds) -> Share:
        """Return a part of the stretch."""
        return part / self.length if self.length > 0 else 0.0

    @property
    def overlap(self) -> Share:
        """The share of communication that is hidden; 0 where there is none."""
        return self.hidden / self.communication if self.communication > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamUse:
    """One stream: what it ran and how long it was busy."""

    stream: int
    events: Count
    busy: Seconds
    mostly: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelUse:
    """All runs of the kernels of one name: their times added."""

    name: str
    group: str
    count: Count
    time: Seconds


class Sorted:
    """A rank's trace with its kernels classified."""

    def __init__(self, trace: RankTrace, rules: Rules) -> None:
        """Classify each name once, then merge the intervals of each class."""
        self.trace = trace
        self.groups = tuple(rules.group(kind, name) for kind, name in trace.names)
        self.classes = tuple(class_of(group) for group in self.groups)
        self.edges, self.masks = _segments(trace, self.classes)

    def use(self, start: Seconds, end: Seconds) -> TimeUse:
        """Return where the time between two moments went."""
        return _use(self.masked(start, end), end - start)

    def masked(self, start: Seconds, end: Seconds) -> list[Seconds]:
        """Return the time of each set of classes that ran at once, between two moments."""
        found = [0.0] * _MASKS
        edges, masks = self.edges, self.masks
        at = max(0, bisect_right(edges, start) - 1)
        while at < len(masks) and edges[at] < end:
            length = min(end, edges[at + 1]) - max(start, edges[at])
            if length > 0:
                found[masks[at]] += length
            at += 1
        return found

    @property
    def end(self) -> Seconds:
        """Of the last event."""
        return self.edges[-1]


def _use(by_mask: Sequence[Seconds], length: Seconds) -> TimeUse:
    def of(bits: int) -> Seconds:
        return sum(time for mask, time in enumerate(by_mask) if mask & bits == bits)

    compute, communication, copying = map(of, (COMPUTE_CLASS, COMMUNICATION_CLASS, COPY_CLASS))
    hidden = of(COMPUTE_CLASS | COMMUNICATION_CLASS)
    copies = by_mask[COPY_CLASS]
    exposed = communication - hidden
    return TimeUse(
        length=length,
        compute=compute,
        communication=communication,
        hidden=hidden,
        exposed=exposed,
        copies=copies,
        copying=copying,
        idle=max(0.0, length - compute - exposed - copies),
    )


def merged(intervals: Iterable[Stretch]) -> list[Stretch]:
    """Return intervals, sorted by their starts, without their overlaps."""
    found: list[Stretch] = []
    start, end = 0.0, -1.0
    for begins, ends in intervals:
        if end < start:
            start, end = begins, ends
        elif begins <= end:
            end = max(end, ends)
        else:
            found.append((start, end))
            start, end = begins, ends
    return [*found, (start, end)] if end >= start else found


def _segments(trace: RankTrace, classes: Sequence[int]) -> tuple[list[Seconds], list[int]]:
    """Return moments, and for each stretch between two which classes run, as bits."""
    changes: list[tuple[Seconds, int]] = []
    for bit in sorted(set(classes)):
        events = zip(trace.start, trace.end, trace.name, strict=True)
        for start, end in merged((a, b) for a, b, name in events if classes[name] == bit):
            changes.append((start, bit))
            changes.append((end, -bit))
    changes.sort()
    edges: list[Seconds] = []
    masks: list[int] = []
    running = 0
    for at, change in changes:
        if not edges or at > edges[-1]:
            edges.append(at)
            masks.append(running)
        running += change
        masks[-1] = running
    # After the last moment nothing runs: that is no stretch.
    return edges, masks[:-1]


def stream_uses(found: Sorted, start: Seconds, end: Seconds) -> tuple[StreamUse, ...]:
    """Return the streams, those that are busy the longest first."""
    trace = found.trace
    intervals: dict[int, list[Stretch]] = {}
    groups: dict[int, dict[str, Seconds]] = {}
    for a, b, name, stream in zip(trace.start, trace.end, trace.name, trace.stream, strict=True):
        if b <= start or a >= end:
            continue
        inside = max(a, start), min(b, end)
        intervals.setdefault(stream, []).append(inside)
        of_stream = groups.setdefault(stream, {})
        group = found.groups[name]
        of_stream[group] = of_stream.get(group, 0.0) + inside[1] - inside[0]
    uses = (
        StreamUse(
            stream=trace.streams[stream],
            events=len(own),
            busy=sum(b - a for a, b in merged(own)),
            mostly=max(groups[stream], key=lambda group: groups[stream][group]),
        )
        for stream, own in intervals.items()
    )
    return tuple(sorted(uses, key=lambda one: -one.busy))


def kernel_uses(found: Sorted, start: Seconds, end: Seconds) -> tuple[KernelUse, ...]:
    """Return what ran by name, the longest first."""
    trace = found.trace
    times = [0.0] * len(trace.names)
    counts = [0] * len(trace.names)
    for a, b, name in zip(trace.start, trace.end, trace.name, strict=True):
        if b > start and a < end:
            times[name] += min(b, end) - max(a, start)
            counts[name] += 1
    uses = (
        KernelUse(name=name, group=found.groups[at], count=counts[at], time=times[at])
        for at, (_, name) in enumerate(trace.names)
        if counts[at]
    )
    return tuple(sorted(uses, key=lambda one: -one.time))
