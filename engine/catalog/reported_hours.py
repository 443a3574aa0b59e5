"""Whole training runs and the GPU-hours that their authors give, failures and all."""

from engine.catalog.whole_run_record import WholeRun
from engine.catalog.whole_runs_meta import META_RUNS
from engine.catalog.whole_runs_others import OTHER_RUNS
from engine.core.units import Ratio

WHOLE_RUNS: tuple[WholeRun, ...] = (*META_RUNS, *OTHER_RUNS)


def factor_quantile(share: float, runs: tuple[WholeRun, ...] = WHOLE_RUNS) -> Ratio:
    """Return the factor from plan to reality that so large a share of the runs stays below.

    Straight between the runs, as in a sorted list.
    """
    factors = sorted(run.factor for run in runs)
    place = share * (len(factors) - 1)
    low = int(place)
    high = min(low + 1, len(factors) - 1)
    return factors[low] + (place - low) * (factors[high] - factors[low])
