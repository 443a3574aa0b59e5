"""Kinds of plans: which count as one, which tie with the best, and which of a tie is simplest.

One rule for page, terminal, Python and sweep. Plans that split layers, sequences and experts over
the same ranks of one software are one kind, whatever their micro-batch, virtual stages,
recomputation or stage of sharding. Two plans tie whose predicted steps differ by less than the
ratio of published pairs is predicted wrongly.
"""

import math
from bisect import insort

from engine.catalog.gain_errors import GAIN_ERROR
from engine.core.units import Bytes, Count, Ratio, Seconds
from engine.simulate.planner.evaluate import Candidate

# A plan up to so many times as slow as another ties with it: four in five pairs of published runs
# have a ratio of speeds within it of the predicted one.
TIE: Ratio = math.exp(GAIN_ERROR)
# From the fewest switches to the most.
_RECOMPUTED = ("none", "selective", "full", "modules")

Kind = tuple[str, str, Count, Count, Count, Count, Count, bool]


def kind_of(candidate: Candidate) -> Kind:
    """Return what plans of one kind have in common: software, precision, ranks of each axis.

    And whether a software that need not do so shards parameters too, as Megatron-FSDP does.
    """
    plan, training = candidate.plan, candidate.training
    return (
        training.framework,
        training.precision,
        plan.tensor_parallel,
        plan.pipeline_parallel,
        plan.context_parallel,
        plan.expert_parallel,
        plan.expert_tensor_parallel,
        training.framework != "fsdp" and plan.zero_stage == 3,
    )


def plan_order(candidate: Candidate) -> tuple[Seconds, Count, Bytes]:
    """Return the sort key of a plan: step time, number of axes, memory."""
    return candidate.step, candidate.axes, candidate.memory.total


def simplicity(candidate: Candidate) -> tuple[bool, Count, Count, Count, bool, Seconds]:
    """Return the sort key of the plans of a tie, the simplest first.

    Those that are not tight; then fewer kinds of parallelism, fewer virtual stages, less
    recomputation, replicas that shard as one group; then the shorter step.
    """
    plan, training = candidate.plan, candidate.training
    return (
        candidate.fit.verdict != "fits",
        candidate.axes,
        plan.virtual_pipeline,
        _RECOMPUTED.index(training.recompute),
        plan.shard_group > 0,
        candidate.step,
    )


def is_tie(step: Seconds, best: Seconds) -> bool:
    """Return whether predictions are too coarse to tell a plan from the best one."""
    return step <= best * TIE


def keep_fastest(best: list[Candidate], candidate: Candidate, count: Count) -> None:
    """Insert a plan among the fastest of `count` kinds, one of each, the fastest first."""
    kind = kind_of(candidate)
    same = next((place for place, plan in enumerate(best) if kind_of(plan) == kind), None)
    if same is not None:
        if plan_order(best[same]) <= plan_order(candidate):
            return
        del best[same]
    insort(best, candidate, key=plan_order)
    del best[count:]
