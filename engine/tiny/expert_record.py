"""Record of the tiny model with experts on several ranks, compared with one GPU."""

from dataclasses import dataclass, replace
from functools import lru_cache

from engine.core.slices import SlicedRun, Slices, run_to_end, step_progress
from engine.core.units import Count
from engine.tiny import single
from engine.tiny.job import TINY_EXPERTS, TinyJob, example_batch
from engine.tiny.result import TrainingResult, parameter_difference
from engine.tiny.schemes import expert_parallel


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertRecord:
    """A run of three steps over `ranks` ranks, and the same on one GPU.

    Attributes:
        run: over the ranks.
        alone: on one GPU.
    """

    run: TrainingResult
    alone: TrainingResult

    @property
    def off(self) -> float:
        """The largest difference of a parameter, of the largest parameter."""
        return parameter_difference(self.run, self.alone)

    def sent(self, kind: str) -> tuple[Count, ...]:
        """Return the numbers of a kind that each rank sends per step."""
        steps = self.run.job.steps
        empty = (0,) * len(self.run.state_counts)
        return tuple(numbers // steps for numbers in self.run.sent.get(kind, empty))


def expert_record(ranks: Count, each: Count) -> ExpertRecord:
    """Return the run with `each` experts per token."""
    return run_to_end(start_expert_record(ranks, each).rest())


@lru_cache(maxsize=8)
def start_expert_record(ranks: Count, each: Count) -> SlicedRun[ExpertRecord]:
    """Return the record as cooperative steps, one training after the other."""
    model = replace(TINY_EXPERTS, experts_per_token=each)
    return SlicedRun(_record_steps(TinyJob(model=model, batch=example_batch()), ranks))


def _record_steps(job: TinyJob, ranks: Count) -> Slices[ExpertRecord]:
    yield step_progress(1, 2, "Training")
    alone = single.train(job)
    yield step_progress(2, 2, "Training")
    return ExpertRecord(run=expert_parallel.train(job, ranks), alone=alone)
