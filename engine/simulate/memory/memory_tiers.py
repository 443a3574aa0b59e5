"""The memory tiers of one GPU: what each holds, and how long a step takes."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.catalog.hardware import SHARED_PER_CLOCK
from engine.catalog.hosts import CPU_ADAM
from engine.core.units import Bandwidth, Bytes, Count, Parameters, Seconds, Tokens
from engine.formulas.activations import HALF, SINGLE
from engine.formulas.compute import TILE_COLUMNS, TILE_ROWS
from engine.formulas.offload import host_update_time, recomputed_time
from engine.simulate.memory.tier_moves import ON_GPU, Move, moves_of
from engine.simulate.memory.tiered_job import Job, Placed, Tier, job_of, tiers_of

# Of the inner sum, a slice of so many elements is loaded at a time, and so many are on their way.
_SLICE: Count = 64
TILE_STAGES: Count = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """What a placement holds, moves and takes.

    Attributes:
        tokens: of one GPU in a step.
        held: by tier.
        compute: of all passes of a step.
        on_host: parameters that Adam updates on the host's processors; 0 where the GPU does.
        host_update: time of that.
    """

    job: Job
    tokens: Tokens
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

    def busy(self, wire: str) -> Seconds:
        """Return how long a wire is busy in a step."""
        return self.on(wire, update=False) + self.on(wire, update=True)

    def of(self, tensor: str, wire: str) -> Seconds:
        """Return how long a wire is busy with a tensor."""
        return sum(m.time for m in self.moves if (m.tensor, m.wire) == (tensor, wire))

    def over(self) -> tuple[str, ...]:
        """Return the tiers that hold more than they can."""
        return tuple(key for key, tier in self.tiers.items() if self.held[key] > tier.capacity)


def place(placed: Placed) -> Placement:
    """Return what a placement holds and moves, and how long its parts take."""
    job = job_of(placed)
    tiers, homes = tiers_of(placed, job), placed.homes
    held = dict.fromkeys(tiers, 0.0) | {"hbm": job.working}
    for tensor, tier in homes.items():
        held[tier] += job.sizes[tensor]
    moves = tuple(moves_of(job, homes, tiers, placed.num_microbatches))
    tokens = job.tokens * placed.num_microbatches
    shards = job.parameters / placed.ranks * job.neighbors
    on_host = 0.0 if homes["moments"] in ON_GPU else shards
    return Placement(
        job=job,
        tokens=tokens,
        tiers=tiers,
        held=held,
        moves=moves,
        compute=recomputed_time(job.parameters, tokens, job.rate, job.peak),
        on_host=on_host,
        host_update=host_update_time(on_host, CPU_ADAM.parameters, CPU_ADAM.time),
    )


def shared_bandwidth(job: Job) -> Bandwidth:
    """Return that of all shared memories, at the clock that the peak stands for."""
    return job.peak / job.chip.operations * SHARED_PER_CLOCK


def tile_bytes() -> tuple[Bytes, Bytes]:
    """Return the sums of a tile, and the slices of both factors that are loaded for it."""
    slices = TILE_STAGES * (TILE_ROWS + TILE_COLUMNS) * _SLICE * HALF
    return TILE_ROWS * TILE_COLUMNS * SINGLE, slices
