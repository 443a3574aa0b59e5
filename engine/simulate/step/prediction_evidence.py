"""Evidence for a predicted step time: its error range and the nearest published runs."""

from functools import partial

from engine.catalog.nearest_runs import NearbyRun
from engine.core.lazy import Lazy
from engine.core.record import record
from engine.run.run import Run
from engine.simulate.step.nearest_runs import nearest_published_runs
from engine.simulate.step.step_range import PredictionSpread, prediction_spread


@record
class StepEvidence:
    """Evidence for the predicted step time of a run.

    Attributes:
        run: whose step was predicted.
        spread: how far off such predictions are.
        nearest: published runs, the nearest first.
    """

    run: Run
    spread: PredictionSpread
    nearest: tuple[NearbyRun, ...]


Evidence = Lazy[StepEvidence]


def evidence(run: Run) -> Evidence:
    """Return the evidence for a run's step time, computed when a receipt first shows it."""
    return Lazy(partial(_collect_evidence, run))


def _collect_evidence(run: Run) -> StepEvidence:
    return StepEvidence(run=run, spread=prediction_spread(run), nearest=nearest_published_runs(run))
