"""Time breakdown of a GPU: computation, hidden and exposed communication, copies, idle.

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
    KernelRules,
    group_class,
)

Interval = tuple[Seconds, Seconds]
_MASKS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeUse:
    """Time breakdown of an interval: `compute`, `exposed`, `copies` and `idle` add to `length`.

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
        """Return a part as a share of the interval."""
        return part / self.length if self.length > 0 else 0.0

    @property
    def overlap(self) -> Share:
        """Hidden share of communication; 0 without communication."""
        return self.hidden / self.communication if self.communication > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamUse:
    """Events and busy time of one stream."""

    stream: int
    events: Count
    busy: Seconds
    mostly: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelUse:
    """Total time of all kernels of one name."""

    name: str
    group: str
    count: Count
    time: Seconds


class ClassifiedTrace:
    """A rank's trace with its kernels classified."""

    def __init__(self, trace: RankTrace, rules: KernelRules) -> None:
        """Classify each name once, then merge the intervals of each class."""
        self.trace = trace
        self.groups = tuple(rules.group(kind, name) for kind, name in trace.names)
        self.classes = tuple(group_class(group) for group in self.groups)
        self.edges, self.masks = _segments(trace, self.classes)

    def time_use(self, start: Seconds, end: Seconds) -> TimeUse:
        """Return the time breakdown between two moments."""
        return _time_use(self.mask_times(start, end), end - start)

    def mask_times(self, start: Seconds, end: Seconds) -> list[Seconds]:
        """Return the time of each combination of running classes between two moments."""
        times = [0.0] * _MASKS
        edges, masks = self.edges, self.masks
        at = max(0, bisect_right(edges, start) - 1)
        while at < len(masks) and edges[at] < end:
            length = min(end, edges[at + 1]) - max(start, edges[at])
            if length > 0:
                times[masks[at]] += length
            at += 1
        return times

    @property
    def end(self) -> Seconds:
        """End of the last event."""
        return self.edges[-1]


def _time_use(by_mask: Sequence[Seconds], length: Seconds) -> TimeUse:
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


def merge_intervals(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the union of intervals that are sorted by their starts."""
    intervals_merged: list[Interval] = []
    start, end = 0.0, -1.0
    for begins, ends in intervals:
        if end < start:
            start, end = begins, ends
        elif begins <= end:
            end = max(end, ends)
        else:
            intervals_merged.append((start, end))
            start, end = begins, ends
    return [*intervals_merged, (start, end)] if end >= start else intervals_merged


def _segments(trace: RankTrace, classes: Sequence[int]) -> tuple[list[Seconds], list[int]]:
    """Return the edges of intervals, and the running classes of each as a bit mask."""
    changes: list[tuple[Seconds, int]] = []
    for bit in sorted(set(classes)):
        events = zip(trace.start, trace.end, trace.name, strict=True)
        for start, end in merge_intervals((a, b) for a, b, name in events if classes[name] == bit):
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


def stream_uses(classified: ClassifiedTrace, start: Seconds, end: Seconds) -> tuple[StreamUse, ...]:
    """Return the streams, those that are busy the longest first."""
    trace = classified.trace
    intervals: dict[int, list[Interval]] = {}
    groups: dict[int, dict[str, Seconds]] = {}
    for a, b, name, stream in zip(trace.start, trace.end, trace.name, trace.stream, strict=True):
        if b <= start or a >= end:
            continue
        inside = max(a, start), min(b, end)
        intervals.setdefault(stream, []).append(inside)
        of_stream = groups.setdefault(stream, {})
        group = classified.groups[name]
        of_stream[group] = of_stream.get(group, 0.0) + inside[1] - inside[0]
    uses = (
        StreamUse(
            stream=trace.streams[stream],
            events=len(stream_intervals),
            busy=sum(b - a for a, b in merge_intervals(stream_intervals)),
            mostly=max(groups[stream], key=lambda group: groups[stream][group]),
        )
        for stream, stream_intervals in intervals.items()
    )
    return tuple(sorted(uses, key=lambda stream_use: -stream_use.busy))


def kernel_uses(classified: ClassifiedTrace, start: Seconds, end: Seconds) -> tuple[KernelUse, ...]:
    """Return the kernel time by name, the longest first."""
    trace = classified.trace
    times = [0.0] * len(trace.names)
    counts = [0] * len(trace.names)
    for a, b, name in zip(trace.start, trace.end, trace.name, strict=True):
        if b > start and a < end:
            times[name] += min(b, end) - max(a, start)
            counts[name] += 1
    uses = (
        KernelUse(name=name, group=classified.groups[at], count=counts[at], time=times[at])
        for at, (_, name) in enumerate(trace.names)
        if counts[at]
    )
    return tuple(sorted(uses, key=lambda kernel_use: -kernel_use.time))
