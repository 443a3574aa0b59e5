"""Totals of one rank's trace: computation, collectives, spinning and exposed time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from engine.core.units import Count, Seconds, Share
from engine.simulate.streams.multi_rank import RankKernel
from engine.simulate.streams.stream_account import Interval, merge_intervals, split_interval
from engine.simulate.streams.streams import COMPUTE, NETWORK


@dataclass(frozen=True, slots=True, kw_only=True)
class RankAccount:
    """Time totals of one rank's kernels.

    Attributes:
        computing: time in which compute kernels run.
        communicating: time in which a collective runs or spins.
        spun: time spent spinning in collectives until the last rank arrives.
        exposed: time in which a collective runs or spins without computation.
        utilization: share of the step in which any kernel runs.
    """

    computing: Seconds
    communicating: Seconds
    spun: Seconds
    exposed: Seconds
    utilization: Share


def rank_account(kernels: Sequence[RankKernel], rank: Count, step: Seconds) -> RankAccount:
    """Return the time totals of a rank's kernels in a step."""
    busy, communication = (
        compute_intervals(kernels, rank),
        _stream_intervals(kernels, rank, NETWORK),
    )
    pieces = [piece for interval in communication for piece in split_interval(interval, busy)]
    return RankAccount(
        computing=_total_time(busy),
        communicating=_total_time(communication),
        spun=fsum(kernel.moved - kernel.begin for kernel in kernels if kernel.rank == rank),
        exposed=fsum(end - start for start, end, alone in pieces if alone),
        utilization=_total_time(merge_intervals([*busy, *communication])) / step,
    )


def compute_intervals(kernels: Sequence[RankKernel], rank: Count) -> list[Interval]:
    """Return the disjoint intervals in which the rank computes, in order."""
    return _stream_intervals(kernels, rank, COMPUTE)


def _stream_intervals(kernels: Sequence[RankKernel], rank: Count, stream: str) -> list[Interval]:
    return merge_intervals(
        (kernel.begin, kernel.end)
        for kernel in kernels
        if kernel.rank == rank and kernel.op.stream == stream
    )


def _total_time(intervals: Iterable[Interval]) -> Seconds:
    return fsum(end - start for start, end in intervals)
