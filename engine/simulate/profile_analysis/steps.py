"""Step boundaries of a trace, from profiler marks or repeating kernels."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from engine.core.units import Count, Seconds, Share
from engine.run.traces.document import ProfilerStep, RankTrace

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
        own = marked[True]
        # The step is over when the GPU is done; on the host it ends with the mark.
        end = max(own[-1].end, *(mark.end for mark in own))
        return _steps("device", own, end)
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
    own = [mark for mark in marks.values() if mark.start < last and mark.end > 0]
    return sorted(own, key=lambda mark: mark.start)


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
    places: dict[int, list[int]] = {}
    for at, name in enumerate(names):
        places.setdefault(name, []).append(at)
    rare = sorted((own for own in places.values() if len(own) >= 2), key=len)
    tried: set[int] = set()
    for own in rare:
        gaps = sorted(b - a for a, b in pairwise(own))
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
