"""What all micro-batch sizes and recomputations of one pipeline have in common.

A job has tens of them for every pipeline, so it is found once: parameters of its stages, and for
all that its replicas can shard the states, the exchange and the optimizer.
"""

from dataclasses import dataclass

from engine.core.units import Count
from engine.formulas.states import RankParameters, rank_parameters
from engine.run.parallelism import Plan, Training
from engine.run.plan_space import Job, shardings
from engine.simulate.layer.device_model import Hops, Rank, stage_hops
from engine.simulate.memory.memory import Standing, stages_that_can_be_fullest, standing
from engine.simulate.step.sharding_time import Weights, rank_weights
from engine.simulate.step.step_time import Shared, shared_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharded:
    """A pipeline with what its replicas shard.

    Attributes:
        plan: the whole of it.
        standing: what each of the stages that can be the fullest holds of its parameters.
        shared: what its replicas share.
    """

    plan: Plan
    standing: tuple[Standing, ...]
    shared: Shared


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """A pipeline, whatever its micro-batches are.

    Attributes:
        stages: that can be the fullest, each with its parameters.
        weights: parameters of a rank.
        hops: between its stages.
        sharded: with all that its replicas can shard.
    """

    stages: tuple[tuple[Count, RankParameters], ...]
    weights: Weights
    hops: Hops
    sharded: tuple[Sharded, ...]


def pipeline_of(job: Job, plan: Plan, training: Training, rank: Rank) -> Pipeline:
    """Return a pipeline of a job."""
    model = job.model
    stages = tuple(
        (stage, rank_parameters(model, plan, training, stage))
        for stage in stages_that_can_be_fullest(model, plan, training)
    )
    weights = rank_weights(model, plan)
    return Pipeline(
        stages=stages,
        weights=weights,
        hops=stage_hops(rank, plan),
        sharded=tuple(
            Sharded(
                plan=one,
                standing=tuple(standing(model, one, training, *stage) for stage in stages),
                shared=shared_of(model, one, training, rank, weights),
            )
            for one in shardings(job, plan, training)
        ),
    )
