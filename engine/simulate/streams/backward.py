"""One data-parallel step on two streams: computation and gradient-bucket all-reduces."""

from dataclasses import dataclass
from itertools import pairwise

from engine.core.units import Count, Seconds

COMPUTE = "compute"
COMMUNICATION = "communication"


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketSpan:
    """One or more buckets on one stream, from start to end.

    Attributes:
        stream: `COMPUTE` or `COMMUNICATION`.
        start: start, since the beginning of the step.
        end: end, since the beginning of the step.
        busy: busy time between them; less than end - start if grouped buckets wait for one
            another.
        label: name of the pass or of the buckets.
    """

    stream: str
    start: Seconds
    end: Seconds
    busy: Seconds
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackwardStep:
    """A simulated step without the optimizer.

    Attributes:
        spans: spans of computation, then of communication, each in order of time.
        compute: time of forward and backward pass.
        total: time until the last bucket is reduced.
        isolated: time of the all-reduces of all buckets, run alone.
        exposed: time of the step beyond its computation.
        hidden: part of `isolated` that overlaps with computation.
    """

    spans: tuple[BucketSpan, ...]
    compute: Seconds
    total: Seconds
    isolated: Seconds
    exposed: Seconds
    hidden: Seconds


def overlapped_step(
    forward: Seconds,
    backward: Seconds,
    num_buckets: Count,
    bucket_time: Seconds,
    *,
    groups: Count = 18,
) -> BackwardStep:
    """Return the step in which every bucket is reduced as soon as it is ready.

    The backward pass finishes `num_buckets` equal buckets at even intervals, the last with its
    end; one all-reduce of `bucket_time` runs at a time. At most `groups` spans stand for the
    buckets of each stream. The times are exact whatever their number, and so is the work: it
    grows with the number of groups, not with that of buckets.
    """
    _check_counts(num_buckets, groups)
    bounds = _group_bounds(num_buckets, groups)
    bucket_interval = backward / num_buckets
    free = 0.0
    compute, communication = [], []
    for first, last in pairwise(bounds):
        ready = forward + bucket_interval * (first + 1)
        start = max(free, ready)
        busy = (last - first) * bucket_time
        # Equal buckets, evenly spaced: the group ends after work without a pause from its start,
        # or one all-reduce after its last bucket is ready, whichever is later.
        free = max(start + busy, forward + bucket_interval * last + bucket_time)
        label = _bucket_label(first, last)
        compute.append(
            BucketSpan(
                stream=COMPUTE,
                start=forward + bucket_interval * first,
                end=forward + bucket_interval * last,
                busy=bucket_interval * (last - first),
                label=f"backward, {label}",
            )
        )
        communication.append(
            BucketSpan(stream=COMMUNICATION, start=start, end=free, busy=busy, label=label)
        )
    return _build_step(forward, backward, compute, communication, num_buckets * bucket_time)


def blocking_step(
    forward: Seconds,
    backward: Seconds,
    num_buckets: Count,
    bucket_time: Seconds,
    *,
    groups: Count = 18,
) -> BackwardStep:
    """Return the step in which the all-reduces start only after the backward pass."""
    _check_counts(num_buckets, groups)
    ready = forward + backward
    compute = [
        BucketSpan(stream=COMPUTE, start=forward, end=ready, busy=backward, label="backward")
    ]
    communication = [
        BucketSpan(
            stream=COMMUNICATION,
            start=ready + first * bucket_time,
            end=ready + last * bucket_time,
            busy=(last - first) * bucket_time,
            label=_bucket_label(first, last),
        )
        for first, last in pairwise(_group_bounds(num_buckets, groups))
    ]
    return _build_step(forward, backward, compute, communication, num_buckets * bucket_time)


def _check_counts(num_buckets: Count, groups: Count) -> None:
    if num_buckets < 1:
        raise ValueError(f"num_buckets is {num_buckets}; it must be 1 or more")
    if groups < 1:
        raise ValueError(f"groups is {groups}; it must be 1 or more")


def _group_bounds(num_buckets: Count, groups: Count) -> list[int]:
    """Return the first buckets of groups of about equal size, and the end of the last group."""
    count = min(num_buckets, groups)
    return [num_buckets * index // count for index in range(count + 1)]


def _bucket_label(first: int, last: int) -> str:
    return f"bucket {last}" if last - first == 1 else f"buckets {first + 1}\N{EN DASH}{last}"


def _build_step(
    forward: Seconds,
    backward: Seconds,
    compute: list[BucketSpan],
    communication: list[BucketSpan],
    isolated: Seconds,
) -> BackwardStep:
    forward_span = BucketSpan(stream=COMPUTE, start=0.0, end=forward, busy=forward, label="forward")
    compute_time = forward + backward
    total = max(compute_time, communication[-1].end)
    exposed = total - compute_time
    return BackwardStep(
        spans=(forward_span, *compute, *communication),
        compute=compute_time,
        total=total,
        isolated=isolated,
        exposed=exposed,
        hidden=max(0.0, isolated - exposed),
    )
