"""Published runs with predicted step times and peak memory."""

from dataclasses import dataclass
from functools import cache

from engine.catalog.published_runs import published_rows
from engine.core.units import Bytes, Ratio, Seconds
from engine.run.published import PublishedRun, read_published_runs
from engine.simulate.memory.allocator import reported_bytes
from engine.simulate.memory.memory import rank_memory
from engine.simulate.step.step_time import step_time


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedRun:
    """A published run with its prediction.

    Attributes:
        case: the run, and what was measured.
        time: predicted, of a step.
        memory: predicted peak; None where none was published.
    """

    case: PublishedRun
    time: Seconds
    memory: Bytes | None

    @property
    def error(self) -> Ratio:
        """Relative error of the predicted step time."""
        return self.time / self.case.time - 1

    @property
    def memory_error(self) -> Ratio | None:
        """Relative error of the predicted peak memory; None if none was published."""
        measured = self.case.held
        return None if measured is None or self.memory is None else self.memory / measured - 1


@cache
def predictions() -> tuple[PredictedRun, ...]:
    """Return every published run that has a step time, in the order of the table."""
    return tuple(map(_predict, read_published_runs(published_rows())[0]))


def _predict(case: PublishedRun) -> PredictedRun:
    run = case.run
    step = step_time(run.model, run.cluster, run.plan, run.training)
    peak = None
    if case.held is not None:
        memory = rank_memory(run.model, run.plan, run.training)
        peak = reported_bytes(memory, run.training)
    return PredictedRun(case=case, time=step.total, memory=peak)
