"""What published runs took in the end, over the steps of their plans."""

from engine.catalog.reported_hours import WHOLE_RUNS, factor_quantile
from engine.core.units import Ratio, Share

# The ends of the middle eight tenths.
LOW_SHARE: Share = 0.1
HIGH_SHARE: Share = 0.9
LOW, MEDIAN, HIGH = (factor_quantile(share) for share in (LOW_SHARE, 0.5, HIGH_SHARE))
SOURCES = tuple(sorted({run.source for run in WHOLE_RUNS}))
ASSUMES = (
    f"The published GPU-hours of {len(WHOLE_RUNS)} whole runs over those of their steps by the "
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
