"""The last micro-batch of a data-parallel step on two streams, its buckets drawn in groups.

In closed form, so that the work grows with the number of groups and not with that of buckets;
`engine.simulate.programs` play the same orders operation by operation.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from engine.core.record import record
from engine.core.units import Count, Seconds
from engine.simulate.data_parallel.sync_step import SyncJob, SyncStep, slower_passes

COMPUTE, COMMUNICATION = "compute", "communication"
_GROUPS: Count = 12


@record
class SyncSpan:
    """A pass, or the collectives of a group of buckets, from start to end.

    Attributes:
        stream: `COMPUTE` or `COMMUNICATION`.
        kind: "forward", "backward", "gather", "reduce", "update" or "other".
        start, end: since the beginning of the micro-batch.
        first, last: buckets of the group, from 1, in the order in which they are reduced; 0 for
            what belongs to none.
        exposed: communication with nothing computed beside it.
    """

    stream: str
    kind: str
    start: Seconds
    end: Seconds
    first: Count = 0
    last: Count = 0
    exposed: bool = False


@record
class _Buckets:
    """Equal buckets that a pass fills at even intervals, and one more at its end.

    Attributes:
        count: equal buckets.
        computing: seconds of the pass.
        sending: seconds of all equal buckets.
        behind: seconds of the one more.
    """

    count: Count
    computing: Seconds
    sending: Seconds
    behind: Seconds


def sync_spans(job: SyncJob, step: SyncStep) -> tuple[SyncSpan, ...]:
    """Return the spans of the last micro-batch; together they are as long as the step model says.

    Of several micro-batches, the gathers of ZeRO-1 stand in front of the first; drawn is one.
    """
    sent, (forward, backward) = step.exchange, slower_passes(job, step)
    spans = [SyncSpan(stream=COMPUTE, kind="forward", start=0.0, end=forward)]
    if sent.gather:
        gathers = _Buckets(
            count=sent.units,
            computing=forward,
            sending=sent.gather - sent.last_gather,
            behind=sent.last_gather,
        )
        spans = _mirrored(list(_reductions(gathers, "forward", "gather")))
    at = max(span.end for span in spans)
    reductions = _Buckets(
        count=sent.units,
        computing=backward,
        sending=sent.reduce - sent.last_reduce,
        behind=sent.last_reduce,
    )
    for span in _reductions(reductions, "backward", "reduce"):
        spans.append(replace(span, start=at + span.start, end=at + span.end))
    at = max(span.end for span in spans)
    for kind, time in (("update", step.parts.optimizer), ("other", step.parts.other)):
        spans.append(SyncSpan(stream=COMPUTE, kind=kind, start=at, end=at + time))
        at += time
    return tuple(spans)


def _reductions(buckets: _Buckets, passed: str, sent: str) -> Iterator[SyncSpan]:
    """Return a pass from 0 and the collectives behind it; what outlasts it is exposed."""
    count, end = buckets.count, buckets.computing
    interval, each = buckets.computing / count, buckets.sending / count
    groups = min(count, _GROUPS)
    bounds = [count * index // groups for index in range(groups + 1)]
    free = 0.0
    for before, last in pairwise(bounds):
        yield SyncSpan(
            stream=COMPUTE,
            kind=passed,
            start=interval * before,
            end=interval * last,
            first=before + 1,
            last=last,
        )
        start = max(free, interval * (before + 1))
        # Equal buckets, evenly spaced: the group ends after work without a pause from its start,
        # or one collective after its last bucket is full, whichever is later.
        free = max(start + (last - before) * each, interval * last + each)
        group = SyncSpan(
            stream=COMMUNICATION, kind=sent, start=start, end=free, first=before + 1, last=last
        )
        yield from _cut(group, end)
    if buckets.behind:
        start = max(free, end)
        yield SyncSpan(
            stream=COMMUNICATION, kind=sent, start=start, end=start + buckets.behind, exposed=True
        )


def _cut(span: SyncSpan, end: Seconds) -> Iterator[SyncSpan]:
    """Return a span cut where the pass ends: the part behind it is exposed."""
    if span.start < end:
        yield replace(span, end=min(end, span.end))
    if span.end > end:
        yield replace(span, start=max(end, span.start), exposed=True)


def _mirrored(spans: list[SyncSpan]) -> list[SyncSpan]:
    """Return spans played backwards: gathers in front of the pass that needs them."""
    end = max(span.end for span in spans)
    return [replace(one, start=end - one.end, end=end - one.start) for one in reversed(spans)]
