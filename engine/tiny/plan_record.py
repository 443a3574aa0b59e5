"""Record of the tiny model under every plan of a few ranks: memory and traffic."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from engine.core.slices import (
    SlicedFunction,
    SlicedRun,
    Slices,
    map_progress,
    step_progress,
)
from engine.core.units import Bytes, Count
from engine.formulas.states import MIXED_PRECISION
from engine.tiny import single
from engine.tiny.job import TinyJob, example_batch
from engine.tiny.result import TrainingResult, parameter_difference
from engine.tiny.schemes import (
    context_zig_zag,
    data_parallel,
    pipeline_parallel,
    tensor_parallel,
    zero_1,
    zero_2,
    zero_3,
)

# Eight sequences of eight predicted tokens, so that four ranks have two pieces of each.
BATCH = example_batch(8, 8)
# The last digits depend on the order of a sum.
LEAST = 1e-14

_SCHEMES: tuple[tuple[str, tuple[Count, ...], SlicedFunction[Any, TrainingResult]], ...] = (
    ("Data parallel", data_parallel.RANKS, data_parallel.train),
    ("ZeRO-1", zero_1.RANKS, zero_1.train),
    ("ZeRO-2", zero_2.RANKS, zero_2.train),
    ("ZeRO-3", zero_3.RANKS, zero_3.train),
    ("Tensor parallel", tensor_parallel.RANKS, tensor_parallel.train),
    ("Pipeline parallel", pipeline_parallel.RANKS, pipeline_parallel.train),
    ("Context parallel", context_zig_zag.RANKS, context_zig_zag.train),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOutcome:
    """Outcome of one plan.

    Attributes:
        name: of the scheme.
        held: bytes that the fullest rank keeps, in mixed precision.
        sent: numbers that the busiest rank sends in a step.
        digits: that agree with a single GPU, of fourteen that are compared.
    """

    name: str
    held: Bytes
    sent: Count
    digits: float


@lru_cache(maxsize=8)
def start_plans(ranks: Count, steps: Count) -> SlicedRun[tuple[PlanOutcome, ...]]:
    """Return the outcomes as cooperative steps, one plan after the other."""
    return SlicedRun(_plan_steps(TinyJob(batch=BATCH, steps=steps), ranks))


def _plan_steps(job: TinyJob, ranks: Count) -> Slices[tuple[PlanOutcome, ...]]:
    schemes = [(name, train) for name, possible, train in _SCHEMES if ranks in possible]

    def run(train: Slices[TrainingResult], done: Count) -> Slices[TrainingResult]:
        progress = step_progress(done, len(schemes), "Plan")
        return map_progress(train, lambda _: progress)

    alone = yield from run(single.train.slices(job), 0)
    outcomes = []
    for done, (name, train) in enumerate(schemes, start=1):
        training = yield from run(train.slices(job, ranks), done)
        outcomes.append(_outcome(name, training, alone))
    return tuple(outcomes)


def _outcome(name: str, run: TrainingResult, alone: TrainingResult) -> PlanOutcome:
    off = parameter_difference(run, alone)
    ranks = range(len(run.state_counts))
    sent = max(sum(counts[rank] for counts in run.sent.values()) for rank in ranks)
    return PlanOutcome(
        name=name,
        held=max(counts.size(MIXED_PRECISION) for counts in run.state_counts),
        sent=round(sent / run.job.steps),
        digits=14.0 if off < LEAST else round(-math.log10(off), 1),
    )
