"""What the trace of one rank adds up to: computing, collectives, and what nothing hides."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from engine.core.units import Count, Seconds, Share
from engine.simulate.streams.multi_rank import Kernel
from engine.simulate.streams.stream_account import Stretch, cut, joined
from engine.simulate.streams.streams import COMPUTE, NETWORK


@dataclass(frozen=True, slots=True, kw_only=True)
class RankAccount:
    """What one rank's kernels add up to.

    Attributes:
        computing: kernels of the compute stream run.
        communicating: a collective runs or spins.
        spun: inside a collective, until the last rank has come.
        exposed: a collective runs or spins beside no computation.
        utilization: share of the step in which any kernel runs.
    """

    computing: Seconds
    communicating: Seconds
    spun: Seconds
    exposed: Seconds
    utilization: Share


def rank_account(kernels: Sequence[Kernel], rank: Count, step: Seconds) -> RankAccount:
    """Return what the kernels of a rank add up to in a step."""
    busy, sums = computing(kernels, rank), _on(kernels, rank, NETWORK)
    pieces = [piece for stretch in sums for piece in cut(stretch, busy)]
    return RankAccount(
        computing=_total(busy),
        communicating=_total(sums),
        spun=fsum(one.moved - one.begin for one in kernels if one.rank == rank),
        exposed=fsum(end - start for start, end, alone in pieces if alone),
        utilization=_total(joined([*busy, *sums])) / step,
    )


def computing(kernels: Sequence[Kernel], rank: Count) -> list[Stretch]:
    """Return when the rank computes, in order and apart."""
    return _on(kernels, rank, COMPUTE)


def _on(kernels: Sequence[Kernel], rank: Count, stream: str) -> list[Stretch]:
    return joined(
        (one.begin, one.end) for one in kernels if one.rank == rank and one.op.stream == stream
    )


def _total(stretches: Iterable[Stretch]) -> Seconds:
    return fsum(end - start for start, end in stretches)
