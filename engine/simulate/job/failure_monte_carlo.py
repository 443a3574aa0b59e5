"""Monte Carlo simulation of one job with random failures: distribution of run times."""

from dataclasses import dataclass

from engine.core.units import Ratio, Seconds, Share
from engine.simulate.job.failure_process import CheckpointPolicy, simulated_run_time

# So many failures are played in all, and so many lives at most: some tens of milliseconds.
_FAILURES: Ratio = 40_000.0
MOST_RUNS, FEWEST_RUNS = 400, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedRuns:
    """End times of the simulated runs.

    Attributes:
        ends: in order.
        mean: of all.
    """

    ends: tuple[Seconds, ...]
    mean: Seconds

    def quantile(self, share: Share) -> Seconds:
        """Return the time by which a share of the runs has ended."""
        index = min(len(self.ends) - 1, int(share * len(self.ends)))
        return self.ends[index]


def simulate_runs(
    policy: CheckpointPolicy, work: Seconds, failures: Ratio, seed: int
) -> SimulatedRuns | None:
    """Return simulated runs of a job with given work and expected failures.

    None where even a few would be too many failures to play: then luck averages out anyway.
    """
    count = int(min(MOST_RUNS, _FAILURES / max(failures, 1.0)))
    if count < FEWEST_RUNS:
        return None
    ends = tuple(
        sorted(simulated_run_time(policy, work, seed * MOST_RUNS + i) for i in range(count))
    )
    return SimulatedRuns(ends=ends, mean=sum(ends) / count)
