"""What is known of a predicted step: its range, and what was measured of the nearest runs."""

from functools import partial

from engine.catalog.nearest_runs import Nearby
from engine.core.lazy import Later
from engine.core.record import record
from engine.run.run import Run
from engine.simulate.step.nearest_runs import nearest
from engine.simulate.step.step_range import Spread, spread


@record
class Known:
    """What is known of the step of a run.

    Attributes:
        run: whose step was predicted.
        spread: how far off such predictions are.
        nearest: published runs, the nearest first.
    """

    run: Run
    spread: Spread
    nearest: tuple[Nearby, ...]


Evidence = Later[Known]


def evidence(run: Run) -> Evidence:
    """Return what is known of the step of a run, looked up when a receipt first tells it."""
    return Later(partial(_known, run))


def _known(run: Run) -> Known:
    return Known(run=run, spread=spread(run), nearest=nearest(run))
