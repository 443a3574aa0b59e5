"""What published runs took in the end, over the steps of their plans."""

from collections.abc import Iterable

from engine.catalog.whole_run_forecasts import FORECAST_HOURS
from engine.core.units import Ratio, Share

# The ends of the middle eight tenths.
LOW_SHARE: Share = 0.1
HIGH_SHARE: Share = 0.9


def quantile(share: Share, factors: Iterable[Ratio]) -> Ratio:
    """Return the factor that so large a share of some factors stays below.

    Straight between them, as in a sorted list.
    """
    ordered = sorted(factors)
    position = share * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])


FACTORS: tuple[Ratio, ...] = tuple(
    published / planned for planned, published, _ in FORECAST_HOURS.values()
)
LOW, MEDIAN, HIGH = (quantile(share, FACTORS) for share in (LOW_SHARE, 0.5, HIGH_SHARE))
SOURCES = tuple(sorted({source for _, _, source in FORECAST_HOURS.values()}))
ASSUMES = (
    f"The published GPU-hours of {len(FACTORS)} whole runs over those of their steps by the "
    "step model: the median, and the ends of the middle eight tenths.",
    "Published hours hold restarts, evaluations, slow phases and smaller batches at the start, "
    "often longer context too; few authors say what they counted.",
    "Most of these runs have no published plan. The planner's best stands in, which they may not "
    "have used.",
)
NO_LOSSES = "The steps alone: no failure, no checkpoint, no restart is counted."


def in_the_end(steps: float) -> tuple[Ratio, Ratio, Ratio]:
    """Return low, median and high of what so much time of steps has become in published runs."""
    return steps * LOW, steps * MEDIAN, steps * HIGH
