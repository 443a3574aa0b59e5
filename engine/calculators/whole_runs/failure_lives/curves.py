"""Data of the failure charts: curves, a map, and the published rates."""

import math

from engine.calculators.whole_runs.failure_lives.inputs import FEWEST, MOST, Inputs
from engine.catalog.failure_reports import FAILURE_REPORTS
from engine.core.record import record
from engine.core.units import DAY, Ratio, Seconds, Share
from engine.formulas.goodput import daly_interval, first_order_goodput, goodput, job_mtbf
from engine.formulas.stragglers import normal

SHORTEST, LONGEST = 30.0, DAY
INTERVALS = tuple(SHORTEST * (LONGEST / SHORTEST) ** (i / 48) for i in range(49))
CHECKPOINTS = (2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
RESTARTS = (60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0)
SIZES = tuple(float(2**i) for i in range(round(math.log2(FEWEST)), round(math.log2(MOST)) + 1))


@record
class Saving:
    """Goodput at each of `INTERVALS`: by Daly's model, and to first order."""

    daly: tuple[Share, ...]
    first: tuple[Share, ...]


@record
class PublishedRate:
    """Effect of a published failure rate on the job, saving at Daly's interval."""

    mtbf: Seconds
    best: Share


def finished_share(
    wall: Seconds, spread: Seconds, last: Seconds
) -> tuple[tuple[Seconds, ...], tuple[Share, ...]]:
    """Return times around the mean, and the share of lives finished by each, by formula."""
    wide = max(3 * spread, last - wall, 600.0)
    low, high = max(0.0, wall - wide), wall + wide
    grid = tuple(low + (high - low) * i / 80 for i in range(81))
    deviation: Ratio = max(spread, 1e-9)
    return grid, tuple(normal((time - wall) / deviation) for time in grid)


def saving(checkpoint: Seconds, restart: Seconds, mtbf: Seconds) -> Saving:
    """Return the goodput over the interval."""
    rest = checkpoint, restart, mtbf
    return Saving(
        daly=tuple(goodput(t, *rest) for t in INTERVALS),
        first=tuple(first_order_goodput(t, *rest) for t in INTERVALS),
    )


def required(mtbf: Seconds) -> tuple[tuple[Share, ...], ...]:
    """Return the best goodput for each of `RESTARTS`, by `CHECKPOINTS`."""
    return tuple(
        tuple(_best_goodput(checkpoint, restart, mtbf) for checkpoint in CHECKPOINTS)
        for restart in RESTARTS
    )


def scale(gpu_mtbf: Seconds) -> tuple[Seconds, ...]:
    """Return the time between failures of a job of each of `SIZES`."""
    return tuple(job_mtbf(gpu_mtbf, round(size)) for size in SIZES)


def reports(inputs: Inputs) -> tuple[PublishedRate, ...]:
    """Return the effect of each published failure rate on the job."""
    rates = []
    for report in FAILURE_REPORTS:
        here = job_mtbf(report.gpu_mtbf, inputs.num_gpus)
        rates.append(
            PublishedRate(mtbf=here, best=_best_goodput(inputs.checkpoint, inputs.restart, here))
        )
    return tuple(rates)


def _best_goodput(checkpoint: Seconds, restart: Seconds, mtbf: Seconds) -> Share:
    """Return the goodput of saving at Daly's interval."""
    return goodput(daly_interval(checkpoint, mtbf), checkpoint, restart, mtbf)
