"""One run of the tiny model on several ranks: its outcome, and the phases of the last step."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from engine.core.units import Bytes, Count
from engine.formulas.states import MIXED_PRECISION
from engine.tiny import gathered, single
from engine.tiny.gathered import Sharding
from engine.tiny.job import TinyJob, example_batch
from engine.tiny.result import TrainingResult, parameter_difference
from engine.tiny.schemes import data_parallel, zero_1, zero_2, zero_3
from engine.tiny.trace import RankNumbers, StepSnapshot

# Eight sequences, so that every one of eight ranks has one; two predicted tokens in each.
BATCH = example_batch(8, 2)
# The last digits depend on the order of a sum, and on the machine's exponential function.
LEAST = 1e-14


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroRecord:
    """A run on several ranks beside the run of a single GPU.

    Attributes:
        run: on the ranks.
        alone: on one GPU, with all sequences.
        trace: the phases of the last step.
    """

    run: TrainingResult
    alone: TrainingResult
    trace: tuple[StepSnapshot, ...]

    @property
    def off(self) -> float:
        """The largest difference of a parameter, of the largest parameter."""
        return parameter_difference(self.run, self.alone)

    @property
    def digits(self) -> float:
        """The digits that agree with a single GPU, of fourteen that are compared."""
        return 14.0 if self.off < LEAST else round(-math.log10(self.off), 1)

    @property
    def held(self) -> Bytes:
        """Bytes held by the fullest rank, in mixed precision."""
        return max(counts.size(MIXED_PRECISION) for counts in self.run.state_counts)

    @property
    def sent(self) -> Count:
        """Numbers that the busiest rank sends in all steps."""
        ranks = range(len(self.run.state_counts))
        return max(sum(counts[rank] for counts in self.run.sent.values()) for rank in ranks)


@lru_cache(maxsize=64)
def _single_run(job: TinyJob) -> TrainingResult:
    return single.train(job)


@lru_cache(maxsize=32)
def zero_record(ranks: Count, zero_stage: Count, steps: Count, learning_rate: float) -> ZeroRecord:
    """Return the run of `steps` steps; `zero_stage` is 0 or 1."""
    job = TinyJob(batch=BATCH, steps=steps, learning_rate=learning_rate)
    trace: list[StepSnapshot] = []

    def keep(snapshot: StepSnapshot) -> None:
        if snapshot.step == steps:
            trace.append(snapshot)

    scheme = zero_1 if zero_stage else data_parallel
    return ZeroRecord(
        run=scheme.train(job, ranks, keep), alone=_single_run(job), trace=tuple(trace)
    )


@lru_cache(maxsize=32)
def sharded_record(
    ranks: Count, zero_stage: Count, num_microbatches: Count, *, reshard: bool = True
) -> ZeroRecord:
    """Return one step of stage 2 or 3, recorded part by part, with its micro-batches."""
    job = TinyJob(batch=BATCH, steps=1, num_microbatches=num_microbatches)
    trace: list[StepSnapshot] = []
    if zero_stage == 3:
        run = zero_3.train(job, ranks, trace.append, reshard=reshard)
    else:
        run = zero_2.train(job, ranks, trace.append)
    return ZeroRecord(
        run=run, alone=_single_run(replace(job, num_microbatches=1)), trace=tuple(trace)
    )


@lru_cache(maxsize=32)
def node_record(ranks: Count, sharding: Sharding, num_microbatches: Count) -> ZeroRecord:
    """Return one step with sharded parameters on several nodes, recorded part by part."""
    job = TinyJob(batch=BATCH, steps=1, num_microbatches=num_microbatches)
    trace: list[StepSnapshot] = []
    run = gathered.train(job, ranks, sharding, trace.append)
    return ZeroRecord(
        run=run, alone=_single_run(replace(job, num_microbatches=1)), trace=tuple(trace)
    )


def memory_of(record: ZeroRecord) -> tuple[tuple[Bytes, ...], Bytes]:
    """Return the first rank's bytes at every event, and its persistent bytes.

    Parameters that are more than its own are there for a while only, in a second copy or gathered,
    and so is the whole gradient of a part; mixed precision, without activations.
    """
    types, counts = MIXED_PRECISION, record.run.state_counts[0]
    least = min(_count(now.ranks[0]) for now in record.trace)
    extra = tuple(_count(now.ranks[0]) - least for now in record.trace)
    resident = counts.size(types)
    return tuple(resident + types.parameter * more for more in extra), resident


def _count(rank: RankNumbers) -> Count:
    """Return the parameters and gradients that a rank holds; both take two bytes."""
    return sum(number is not None for number in (*rank.parameters, *rank.gradients))
