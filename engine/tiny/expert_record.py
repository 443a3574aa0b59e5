"""The tiny model with experts, trained over several ranks beside one: equality, held and sent."""

from dataclasses import dataclass, replace
from functools import lru_cache

from engine.core.slices import Running, Slices, steps_done, whole
from engine.core.units import Count
from engine.tiny import single
from engine.tiny.job import TINY_EXPERTS, Job, example_batch
from engine.tiny.result import Run, difference
from engine.tiny.schemes import expert_parallel


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A run of three steps over `ranks` ranks, and the same on one GPU.

    Attributes:
        run: over the ranks.
        alone: on one GPU.
    """

    run: Run
    alone: Run

    @property
    def off(self) -> float:
        """The largest difference of a parameter, of the largest parameter."""
        return difference(self.run, self.alone)

    def sent(self, kind: str) -> tuple[Count, ...]:
        """Return the numbers of a kind that each rank sends per step."""
        steps = self.run.job.steps
        empty = (0,) * len(self.run.held)
        return tuple(numbers // steps for numbers in self.run.sent.get(kind, empty))


def record(ranks: Count, each: Count) -> Record:
    """Return the run with `each` experts per token."""
    return whole(recording(ranks, each).rest())


@lru_cache(maxsize=8)
def recording(ranks: Count, each: Count) -> Running[Record]:
    """Return the same, one training after the other."""
    model = replace(TINY_EXPERTS, experts_per_token=each)
    return Running(_record(Job(model=model, batch=example_batch()), ranks))


def _record(job: Job, ranks: Count) -> Slices[Record]:
    yield steps_done(1, 2, "Training")
    alone = single.train(job)
    yield steps_done(2, 2, "Training")
    return Record(run=expert_parallel.train(job, ranks), alone=alone)
