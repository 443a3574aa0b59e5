"""Statistics of relative prediction errors and of repeated measurements."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.core.units import Ratio, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSpread:
    """Summary statistics of relative errors; NaN if there are none.

    Attributes:
        median: median of the absolute errors.
        mean: mean of the absolute errors.
        p90: 90th percentile of the absolute errors.
        worst: largest absolute error.
        bias: mean of the signed errors; above zero predictions are too large.
        within: share of errors of at most 10 percent.
    """

    median: Share
    mean: Share
    p90: Share
    worst: Share
    bias: Ratio
    within: Share


def summarize_errors(errors: Sequence[Ratio]) -> ErrorSpread:
    """Return summary statistics of signed relative errors."""
    sizes = sorted(map(abs, errors)) or [math.nan]
    count = len(sizes)
    return ErrorSpread(
        median=median(sizes),
        mean=math.fsum(sizes) / count,
        p90=sizes[min(count - 1, int(0.9 * count))],
        worst=sizes[-1],
        bias=math.fsum(errors) / count if errors else math.nan,
        within=sum(size <= 0.1 for size in sizes) / count if errors else math.nan,
    )


def deviations_from_median(groups: Iterable[Sequence[float]]) -> list[Ratio]:
    """Return the relative deviations from each group's median; groups of one are left out."""
    deviations = []
    for values in (values for values in groups if len(values) > 1):
        middle = median(values)
        deviations += [value / middle - 1 for value in values]
    return deviations


def median(values: Sequence[float]) -> float:
    """Return the value in the middle, or the mean of the two there.

    Python's `statistics` brings exact fractions along, 24 kB on their way to a reader.
    """
    ordered = sorted(values)
    return (ordered[len(ordered) // 2] + ordered[(len(ordered) - 1) // 2]) / 2
