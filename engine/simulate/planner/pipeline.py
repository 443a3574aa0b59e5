"""Parts of a pipeline plan shared by all micro-batch sizes and recomputations.

A job has tens of them for every pipeline, so it is found once: parameters of its stages, and for
all that its replicas can shard the states, the exchange and the optimizer.
"""

import math
from dataclasses import dataclass
from functools import partial

from engine.core.lazy import Lazy
from engine.core.units import Bytes, Count
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
        shared: communication and optimizer time of its replicas, computed when first asked for:
            most shardings do not fit.
    """

    plan: Plan
    standing: tuple[ParameterMemory, ...]
    shared: Lazy[ReplicaCost]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """A pipeline plan, independent of its micro-batches.

    Attributes:
        weights: parameters of a rank.
        hops: between its stages.
        stages: that can be the fullest, each with its parameters.
        sharded: with all that its replicas can shard; like the stages, computed when first asked
            for.
        fitting: of those, whose states alone leave room.
    """

    weights: RankWeights
    hops: StageHops
    stages: Lazy[tuple[tuple[Count, RankParameters], ...]]
    sharded: Lazy[tuple[ShardedPipeline, ...]]
    fitting: Lazy[tuple[ShardedPipeline, ...]]

    @property
    def never_fits(self) -> bool:
        """Whether it is known already that no sharding leaves room."""
        return self.fitting.ready and not self.fitting()


def build_pipeline(
    job: PlanningJob, plan: Plan, training: Training, rank: RankRates, allowed: Bytes
) -> Pipeline:
    """Return the pipeline of a plan, with all shardings of its replicas.

    `allowed` is how many bytes the process of a plan may fill.
    """
    model = job.model
    weights = rank_weights(model, plan)

    def find_stages() -> tuple[tuple[Count, RankParameters], ...]:
        return tuple(
            (stage, rank_parameters(model, plan, training, stage))
            for stage in candidate_stages(model, plan, training)
        )

    def standing(sharded: Plan, room: Bytes) -> tuple[ParameterMemory, ...]:
        parts: list[ParameterMemory] = []
        for stage in stages():
            parts.append(parameter_memory(model, sharded, training, *stage))
            if standing_bytes(parts[-1]) > room:
                return ()
        return tuple(parts)

    def shard(room: Bytes) -> tuple[ShardedPipeline, ...]:
        return tuple(
            ShardedPipeline(
                plan=sharded,
                standing=parts,
                shared=Lazy(partial(replica_cost, model, sharded, training, rank, weights)),
            )
            for sharded in shardings(job, plan, training)
            if (parts := standing(sharded, room))
        )

    stages = Lazy(find_stages)
    return Pipeline(
        weights=weights,
        hops=stage_hops(rank, plan),
        stages=stages,
        sharded=Lazy(partial(shard, math.inf)),
        fitting=Lazy(partial(shard, allowed)),
    )


def standing_bytes(part: ParameterMemory) -> Bytes:
    """Return the states and buffers of a stage, without activations."""
    states = part.states
    return states.parameters + states.gradients + states.optimizer + part.buffers
