"""The memory tiers of one GPU: what each holds, and how long a step takes."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.basis.units import Bytes, Parameters, Seconds
from engine.calculators.reference.memory_tiers.inputs import TENSORS, Inputs, home
from engine.calculators.reference.memory_tiers.job import Job, Tier, job_of, tiers_of
from engine.calculators.reference.memory_tiers.moves import ON_GPU, Move, moves_of
from engine.catalog.hosts import CPU_ADAM
from engine.formulas.offload import host_update_time, recomputed_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Everything that the views show.

    Attributes:
        held: by tier.
        compute: of all passes of a step.
        on_host: parameters that Adam updates on the host's processors; 0 where the GPU does.
        host_update: time of that.
    """

    job: Job
    tiers: Mapping[str, Tier]
    held: Mapping[str, Bytes]
    moves: tuple[Move, ...]
    compute: Seconds
    on_host: Parameters
    host_update: Seconds

    @property
    def moving(self) -> Seconds:
        """All moves and the host's update, one after the other."""
        return sum(move.time for move in self.moves) + self.host_update

    @property
    def passes(self) -> Seconds:
        """The busiest wire during the passes."""
        return max((self.on(wire, update=False) for wire in self.tiers), default=0.0)

    @property
    def update(self) -> Seconds:
        """The busiest part of the update."""
        return max(self.host_update, *(self.on(wire, update=True) for wire in self.tiers))

    def on(self, wire: str, *, update: bool) -> Seconds:
        """Return how long a wire is busy, in the passes or in the update."""
        return sum(m.time for m in self.moves if m.wire == wire and m.update == update)

    def of(self, tensor: str, wire: str) -> Seconds:
        """Return how long a wire is busy with a tensor."""
        return sum(m.time for m in self.moves if (m.tensor, m.wire) == (tensor, wire))

    def over(self) -> tuple[str, ...]:
        """Return the tiers that hold more than they can."""
        return tuple(key for key, tier in self.tiers.items() if self.held[key] > tier.capacity)


def place(inputs: Inputs) -> Placement:
    """Return what the reader's placement holds and moves."""
    job = job_of(inputs)
    tiers = tiers_of(inputs, job)
    homes = {tensor: home(inputs, tensor) for tensor in TENSORS}
    held = dict.fromkeys(tiers, 0.0) | {"hbm": job.working}
    for tensor, tier in homes.items():
        held[tier] += job.sizes[tensor]
    moves = tuple(moves_of(job, homes, tiers, inputs.num_microbatches))
    tokens = job.tokens * inputs.num_microbatches
    shards = job.parameters / inputs.ranks * job.neighbors
    on_host = 0.0 if homes["moments"] in ON_GPU else shards
    return Placement(
        job=job,
        tiers=tiers,
        held=held,
        moves=moves,
        compute=recomputed_time(job.parameters, tokens, job.rate, job.peak),
        on_host=on_host,
        host_update=host_update_time(on_host, CPU_ADAM.parameters, CPU_ADAM.time),
    )
