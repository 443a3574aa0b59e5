"""How far predictions are off: the spread of relative errors, and of repeated measurements."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.core.units import Ratio, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """What many relative errors amount to; not a number if there are none.

    Attributes:
        median: of the absolute errors.
        mean: likewise.
        p90: likewise; nine in ten are within.
        worst: likewise.
        bias: the mean with the signs; above zero predictions are too large.
        within: share of the errors of a tenth or less.
    """

    median: Share
    mean: Share
    p90: Share
    worst: Share
    bias: Ratio
    within: Share


def spread(errors: Sequence[Ratio]) -> Spread:
    """Return what relative errors, each with its sign, amount to."""
    sizes = sorted(map(abs, errors)) or [math.nan]
    count = len(sizes)
    return Spread(
        median=median(sizes),
        mean=math.fsum(sizes) / count,
        p90=sizes[min(count - 1, int(0.9 * count))],
        worst=sizes[-1],
        bias=math.fsum(errors) / count if errors else math.nan,
        within=sum(size <= 0.1 for size in sizes) / count if errors else math.nan,
    )


def from_median(groups: Iterable[Sequence[float]]) -> list[Ratio]:
    """Return how far each value lies from the median of its group; groups of one are left out."""
    found = []
    for values in (values for values in groups if len(values) > 1):
        middle = median(values)
        found += [value / middle - 1 for value in values]
    return found


def median(values: Sequence[float]) -> float:
    """Return the value in the middle, or the mean of the two there.

    Python's `statistics` brings exact fractions along, 24 kB on their way to a reader.
    """
    ordered = sorted(values)
    return (ordered[len(ordered) // 2] + ordered[(len(ordered) - 1) // 2]) / 2
