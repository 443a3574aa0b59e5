"""The published runs, each with the step time and the peak of memory that the engine predicts."""

from dataclasses import dataclass
from functools import cache

from engine.catalog.published_runs import rows
from engine.core.units import Bytes, Ratio, Seconds
from engine.run.published import Case, cases
from engine.simulate.memory.memory import memory
from engine.simulate.step.step_time import step_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """One published run beside its prediction.

    Attributes:
        case: the run, and what was measured.
        time: predicted, of a step.
        memory: predicted peak; None where none was published.
    """

    case: Case
    time: Seconds
    memory: Bytes | None

    @property
    def error(self) -> Ratio:
        """Predicted over measured step time, less one."""
        return self.time / self.case.time - 1

    @property
    def memory_error(self) -> Ratio | None:
        """Predicted over measured peak, less one; None where none was published."""
        held = self.case.held
        return None if held is None or self.memory is None else self.memory / held - 1


@cache
def predictions() -> tuple[Predicted, ...]:
    """Return every published run that has a step time, in the order of the table."""
    return tuple(map(_predicted, cases(rows())[0]))


def _predicted(case: Case) -> Predicted:
    run = case.run
    step = step_time(run.model, run.cluster, run.plan, run.training)
    held = None if case.held is None else memory(run.model, run.plan, run.training).total
    return Predicted(case=case, time=step.total, memory=held)
