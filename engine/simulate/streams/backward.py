"""One data-parallel step on two streams: computation, and the all-reduce of gradient buckets."""

from dataclasses import dataclass
from itertools import pairwise

from engine.core.units import Count, Seconds

COMPUTE = "compute"
COMMUNICATION = "communication"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of one stream.

    Attributes:
        stream: `COMPUTE` or `COMMUNICATION`.
        start: since the beginning of the step.
        end: since the beginning of the step.
        busy: time at work between them; less than end - start where buckets that are drawn
            together wait for one another.
        label: what runs.
    """

    stream: str
    start: Seconds
    end: Seconds
    busy: Seconds
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A simulated step, without its optimizer.

    Attributes:
        spans: compute first, then communication, each in the order of time.
        compute: forward and backward pass.
        total: until the last bucket is reduced.
        isolated: all-reduces of all buckets, if they ran alone.
        exposed: what the step takes longer than its computation.
        hidden: the part of `isolated` that runs behind computation.
    """

    spans: tuple[Span, ...]
    compute: Seconds
    total: Seconds
    isolated: Seconds
    exposed: Seconds
    hidden: Seconds


def overlapped(
    forward: Seconds,
    backward: Seconds,
    num_buckets: Count,
    bucket_time: Seconds,
    *,
    groups: Count = 18,
) -> Step:
    """Return the step when every bucket is reduced as soon as it is ready.

    The backward pass finishes `num_buckets` equal buckets at even intervals, the last with its
    end; one all-reduce of `bucket_time` runs at a time. At most `groups` spans stand for the
    buckets of each stream. The times are exact whatever their number, and so is the work: it
    grows with the number of groups, not with that of buckets.
    """
    _check(num_buckets, groups)
    cuts = _cuts(num_buckets, groups)
    every = backward / num_buckets
    free = 0.0
    compute, communication = [], []
    for first, last in pairwise(cuts):
        ready = forward + every * (first + 1)
        start = max(free, ready)
        busy = (last - first) * bucket_time
        # Equal buckets, evenly spaced: the group ends after work without a pause from its start,
        # or one all-reduce after its last bucket is ready, whichever is later.
        free = max(start + busy, forward + every * last + bucket_time)
        label = _label(first, last)
        compute.append(
            Span(
                stream=COMPUTE,
                start=forward + every * first,
                end=forward + every * last,
                busy=every * (last - first),
                label=f"backward, {label}",
            )
        )
        communication.append(
            Span(stream=COMMUNICATION, start=start, end=free, busy=busy, label=label)
        )
    return _step(forward, backward, compute, communication, num_buckets * bucket_time)


def blocking(
    forward: Seconds,
    backward: Seconds,
    num_buckets: Count,
    bucket_time: Seconds,
    *,
    groups: Count = 18,
) -> Step:
    """Return the step when the all-reduces start only after the backward pass."""
    _check(num_buckets, groups)
    ready = forward + backward
    compute = [Span(stream=COMPUTE, start=forward, end=ready, busy=backward, label="backward")]
    communication = [
        Span(
            stream=COMMUNICATION,
            start=ready + first * bucket_time,
            end=ready + last * bucket_time,
            busy=(last - first) * bucket_time,
            label=_label(first, last),
        )
        for first, last in pairwise(_cuts(num_buckets, groups))
    ]
    return _step(forward, backward, compute, communication, num_buckets * bucket_time)


def _check(num_buckets: Count, groups: Count) -> None:
    if num_buckets < 1:
        raise ValueError(f"num_buckets is {num_buckets}; it must be 1 or more")
    if groups < 1:
        raise ValueError(f"groups is {groups}; it must be 1 or more")


def _cuts(num_buckets: Count, groups: Count) -> list[int]:
    """Return where groups of about equal size begin, and the end of the last."""
    count = min(num_buckets, groups)
    return [num_buckets * index // count for index in range(count + 1)]


def _label(first: int, last: int) -> str:
    return f"bucket {last}" if last - first == 1 else f"buckets {first + 1}\N{EN DASH}{last}"


def _step(
    forward: Seconds,
    backward: Seconds,
    compute: list[Span],
    communication: list[Span],
    isolated: Seconds,
) -> Step:
    start = Span(stream=COMPUTE, start=0.0, end=forward, busy=forward, label="forward")
    computing = forward + backward
    total = max(computing, communication[-1].end)
    exposed = total - computing
    return Step(
        spans=(start, *compute, *communication),
        compute=computing,
        total=total,
        isolated=isolated,
        exposed=exposed,
        hidden=max(0.0, isolated - exposed),
    )
