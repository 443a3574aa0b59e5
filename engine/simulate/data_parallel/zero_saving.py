"""Memory saved and traffic added by each ZeRO stage."""

from dataclasses import dataclass

from engine.core.units import Bytes, Count, Parameters, Ratio, Share
from engine.formulas.states import StateBytes, States, sharded_states
from engine.formulas.volumes import zero_bytes_sent
from engine.formulas.zero_gains import zero_saving


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroJob:
    """A model whose states are sharded over ranks.

    Attributes:
        parameters: of the model.
        types: bytes of each state.
        ranks: that share.
        num_microbatches: of one step, whose gradients are accumulated.
    """

    parameters: Parameters
    types: StateBytes
    ranks: Count
    num_microbatches: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSharding:
    """State bytes and traffic of one rank at a ZeRO stage.

    Attributes:
        states: in bytes.
        saving: of what plain data parallelism holds.
        sent: in a step.
        extra: over what plain data parallelism sends; 1 if that is nothing.
    """

    states: States
    saving: Share
    sent: Bytes
    extra: Ratio


def rank_bytes_sent(job: ZeroJob, stage: Count, num_microbatches: Count) -> Bytes:
    """Return the bytes that a rank sends per step."""
    gradients = job.parameters * job.types.gradient
    parameters = job.parameters * job.types.parameter
    return zero_bytes_sent(gradients, parameters, stage, job.ranks, num_microbatches)


def stage_sharding(job: ZeroJob, stage: Count) -> StageSharding:
    """Return state bytes and traffic of a ZeRO stage."""
    sent, plain = (
        rank_bytes_sent(job, zero_stage, job.num_microbatches) for zero_stage in (stage, 0)
    )
    return StageSharding(
        states=sharded_states(job.parameters, job.types, stage, job.ranks),
        saving=zero_saving(job.types, stage, job.ranks),
        sent=sent,
        extra=sent / plain if plain else 1.0,
    )
