"""What sharding the states takes off every rank, and what it adds to the wire."""

from dataclasses import dataclass

from engine.core.units import Bytes, Count, Parameters, Ratio, Share
from engine.formulas.states import StateBytes, States, sharded_states
from engine.formulas.volumes import zero_bytes_sent
from engine.formulas.zero_gains import zero_saving


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A model whose states so many ranks share.

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
class Sharding:
    """The states of one stage on one rank, and what it sends in a step.

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


def sent(job: Job, stage: Count, num_microbatches: Count) -> Bytes:
    """Return what a rank sends in a step of so many micro-batches."""
    gradients = job.parameters * job.types.gradient
    parameters = job.parameters * job.types.parameter
    return zero_bytes_sent(gradients, parameters, stage, job.ranks, num_microbatches)


def sharding(job: Job, stage: Count) -> Sharding:
    """Return everything about one stage."""
    own, plain = (sent(job, one, job.num_microbatches) for one in (stage, 0))
    return Sharding(
        states=sharded_states(job.parameters, job.types, stage, job.ranks),
        saving=zero_saving(job.types, stage, job.ranks),
        sent=own,
        extra=own / plain if plain else 1.0,
    )
