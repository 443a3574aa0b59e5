"""How steady measured steps are: the median, the spread, the drift, and how many are slow."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.units import Count, Ratio, Share

# Of the first steps so many are warm-up: compilation, caches, the allocator's first blocks.
_WARM_UP: Share = 0.1
_MOST_WARM_UP: Count = 10
# A step that takes so many times the median is slow.
SLOW: Ratio = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Steadiness:
    """Statistics of a series of measurements, in the unit of its values.

    Attributes:
        count: values that are used.
        skipped: values at the beginning that are not.
        median: of the values.
        low, high: between them lie eight in ten.
        drift: median of the last quarter over that of the first, less one.
        slow: values above 1.5 times the median.
    """

    count: Count
    skipped: Count
    median: float
    low: float
    high: float
    drift: Share
    slow: Count


def steadiness(values: Sequence[float]) -> Steadiness:
    """Return the statistics of at least one value; the first tenth is warm-up.

    Of two or three values the first is, if it is slow.
    """
    skipped = min(_MOST_WARM_UP, max(1, int(len(values) * _WARM_UP))) if len(values) > 3 else 0
    if 1 < len(values) <= 3 and values[0] > SLOW * max(values[1:]):
        skipped = 1
    used = values[skipped:]
    middle = quantile(used, 0.5)
    quarter = max(1, len(used) // 4)
    first, last = quantile(used[:quarter], 0.5), quantile(used[-quarter:], 0.5)
    return Steadiness(
        count=len(used),
        skipped=skipped,
        median=middle,
        low=quantile(used, 0.1),
        high=quantile(used, 0.9),
        drift=last / first - 1 if first else 0.0,
        slow=sum(value > SLOW * middle for value in used),
    )


def quantile(values: Sequence[float], share: Share) -> float:
    """Return the value below which a share of the values lies, interpolated."""
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
