"""Parts of a pipeline plan shared by all micro-batch sizes and recomputations.

A job has tens of them for every pipeline, so it is found once: parameters of its stages, and for
all that its replicas can shard the states, the exchange and the optimizer.
"""

from dataclasses import dataclass

from engine.core.units import Count
from engine.formulas.states import RankParameters, rank_parameters
from engine.run.parallelism import Plan, Training
from engine.run.plan_space import PlanningJob, shardings
from engine.simulate.layer.device_model import RankRates, StageHops, stage_hops
from engine.simulate.memory.memory import ParameterMemory, candidate_stages, parameter_memory
from engine.simulate.step.sharding_time import RankWeights, rank_weights
from engine.simulate.step.step_time import ReplicaCost, replica_cost


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedPipeline:
    """A pipeline plan with one sharding of its replicas.

    Attributes:
        plan: the whole of it.
        standing: parameter memory of each stage that can be the fullest.
        shared: communication and optimizer time of its replicas.
    """

    plan: Plan
    standing: tuple[ParameterMemory, ...]
    shared: ReplicaCost


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """A pipeline plan, independent of its micro-batches.

    Attributes:
        stages: that can be the fullest, each with its parameters.
        weights: parameters of a rank.
        hops: between its stages.
        sharded: with all that its replicas can shard.
    """

    stages: tuple[tuple[Count, RankParameters], ...]
    weights: RankWeights
    hops: StageHops
    sharded: tuple[ShardedPipeline, ...]


def build_pipeline(job: PlanningJob, plan: Plan, training: Training, rank: RankRates) -> Pipeline:
    """Return the pipeline of a plan, with all shardings of its replicas."""
    model = job.model
    stages = tuple(
        (stage, rank_parameters(model, plan, training, stage))
        for stage in candidate_stages(model, plan, training)
    )
    weights = rank_weights(model, plan)
    return Pipeline(
        stages=stages,
        weights=weights,
        hops=stage_hops(rank, plan),
        sharded=tuple(
            ShardedPipeline(
                plan=sharded_plan,
                standing=tuple(
                    parameter_memory(model, sharded_plan, training, *stage) for stage in stages
                ),
                shared=replica_cost(model, sharded_plan, training, rank, weights),
            )
            for sharded_plan in shardings(job, plan, training)
        ),
    )
