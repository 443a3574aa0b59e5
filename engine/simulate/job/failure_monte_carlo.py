"""Many lives of one job, each with its own failures: when do they end?"""

from dataclasses import dataclass

from engine.core.units import Ratio, Seconds, Share
from engine.simulate.job.failure_process import Habits, run_time

# So many failures are played in all, and so many lives at most: some tens of milliseconds.
_FAILURES: Ratio = 40_000.0
MOST_LIVES, FEWEST = 400, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Lives:
    """When the lives end.

    Attributes:
        ends: in order.
        mean: of all.
    """

    ends: tuple[Seconds, ...]
    mean: Seconds

    def by(self, share: Share) -> Seconds:
        """Return when so many lives have ended."""
        place = min(len(self.ends) - 1, int(share * len(self.ends)))
        return self.ends[place]


def lives(habits: Habits, work: Seconds, failures: Ratio, seed: int) -> Lives | None:
    """Return many lives of a job with so much work, of which so many failures are expected.

    None where even a few would be too many failures to play: then luck averages out anyway.
    """
    count = int(min(MOST_LIVES, _FAILURES / max(failures, 1.0)))
    if count < FEWEST:
        return None
    ends = tuple(sorted(run_time(habits, work, seed * MOST_LIVES + i) for i in range(count)))
    return Lives(ends=ends, mean=sum(ends) / count)
