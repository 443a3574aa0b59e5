"""Memory tiers of one GPU: bytes in each tier, and the time of a step."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.catalog.hardware import SHARED_PER_CLOCK
from engine.catalog.hosts import CPU_ADAM
from engine.core.units import Bandwidth, Bytes, Count, Parameters, Seconds, Tokens
from engine.formulas.activations import HALF, SINGLE
from engine.formulas.compute import TILE_COLUMNS, TILE_ROWS
from engine.formulas.offload import (
    ACTIVATION_MOVES,
    GRADIENT_STORES,
    OPTIMIZER_MOVES,
    PARAMETER_LOADS,
    host_update_time,
    moving_time,
    recomputed_time,
)
from engine.simulate.memory.tiered_job import (
    JobPlacement,
    Tier,
    TieredJob,
    build_tiered_job,
    job_tiers,
)

# Moves of every tensor of a step between memory tiers, and the wire of each move.

ON_GPU = ("hbm", "peer")


@dataclass(frozen=True, slots=True, kw_only=True)
class TierMove:
    """All moves of a tensor over the wire of one tier.

    Attributes:
        tensor: key of the tensor.
        wire: "hbm", "peer" (NVLink), "host" (PCIe) or "nvme".
        size: bytes of all crossings of a step.
        time: time of all crossings.
        update: whether they belong to the update, not to the passes.
    """

    tensor: str
    wire: str
    size: Bytes
    time: Seconds
    update: bool


def tensor_moves(
    job: TieredJob, homes: Mapping[str, str], tiers: Mapping[str, Tier], microbatches: Count
) -> Iterator[TierMove]:
    """Yield every move; the update runs on the GPU, or on the host if the moments are there."""
    near = homes["moments"] in ON_GPU
    num_microbatches = microbatches
    # (tensor, reads in the passes, writes in the passes, reads and writes of the update)
    counts = (
        ("parameters", PARAMETER_LOADS * num_microbatches, 0, (0, 1)),
        ("gradients", 0, GRADIENT_STORES * num_microbatches, (1, 0)),
        ("master", 0, 0, (1, OPTIMIZER_MOVES - 1)),
        ("moments", 0, 0, (1, OPTIMIZER_MOVES - 1)),
        ("checkpoints", num_microbatches, (ACTIVATION_MOVES - 1) * num_microbatches, (0, 0)),
        ("logits", num_microbatches, (ACTIVATION_MOVES - 1) * num_microbatches, (0, 0)),
    )
    for tensor, reads, writes, (update_reads, update_writes) in counts:
        tier, size = homes[tensor], job.sizes[tensor]
        if reads or writes:
            yield _move(tensor, tier, tiers[tier], size, (reads, writes))
        wire = tier if near else _from_host(tier)
        if wire and (update_reads or update_writes):
            yield _move(tensor, wire, tiers[wire], size, (update_reads, update_writes), update=True)


def _from_host(tier: str) -> str:
    """Return the wire from the host's processors to a tier; "" for their own memory."""
    return {"hbm": "host", "peer": "host", "host": "", "nvme": "nvme"}[tier]


def _move(
    tensor: str,
    wire: str,
    tier: Tier,
    size: Bytes,
    times: tuple[Count, Count],
    *,
    update: bool = False,
) -> TierMove:
    reads, writes = times
    return TierMove(
        tensor=tensor,
        wire=wire,
        size=(reads + writes) * size,
        time=moving_time(size, reads, tier.read) + moving_time(size, writes, tier.write),
        update=update,
    )


# Of the inner sum, a slice of so many elements is loaded at a time, and so many are on their way.
_SLICE_LENGTH: Count = 64
TILE_STAGES: Count = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TierPlacement:
    """Bytes per tier, moves and times of a tensor placement.

    Attributes:
        tokens: tokens of one GPU in a step.
        bytes_by_tier: tier -> bytes.
        compute: time of all passes of a step.
        on_host: parameters that Adam updates on the host's processors; 0 if on the GPU.
        host_update: time of that update.
    """

    job: TieredJob
    tokens: Tokens
    tiers: Mapping[str, Tier]
    bytes_by_tier: Mapping[str, Bytes]
    moves: tuple[TierMove, ...]
    compute: Seconds
    on_host: Parameters
    host_update: Seconds

    @property
    def moving(self) -> Seconds:
        """Time of all moves and the host's update, one after the other."""
        return sum(move.time for move in self.moves) + self.host_update

    @property
    def passes(self) -> Seconds:
        """Time of the busiest wire during the passes."""
        return max((self.on(wire, update=False) for wire in self.tiers), default=0.0)

    @property
    def update(self) -> Seconds:
        """Time of the slowest part of the update."""
        return max(self.host_update, *(self.on(wire, update=True) for wire in self.tiers))

    def on(self, wire: str, *, update: bool) -> Seconds:
        """Return the busy time of a wire, in the passes or in the update."""
        return sum(m.time for m in self.moves if m.wire == wire and m.update == update)

    def busy(self, wire: str) -> Seconds:
        """Return the busy time of a wire in a step."""
        return self.on(wire, update=False) + self.on(wire, update=True)

    def of(self, tensor: str, wire: str) -> Seconds:
        """Return the busy time of a wire for one tensor."""
        return sum(m.time for m in self.moves if (m.tensor, m.wire) == (tensor, wire))

    def over(self) -> tuple[str, ...]:
        """Return the tiers whose capacity is exceeded."""
        return tuple(
            key for key, tier in self.tiers.items() if self.bytes_by_tier[key] > tier.capacity
        )


def place_tensors(placement: JobPlacement) -> TierPlacement:
    """Return the bytes per tier, moves and times of a placement."""
    job = build_tiered_job(placement)
    tiers, homes = job_tiers(placement, job), placement.homes
    bytes_by_tier = dict.fromkeys(tiers, 0.0) | {"hbm": job.working}
    for tensor, tier in homes.items():
        bytes_by_tier[tier] += job.sizes[tensor]
    bytes_by_tier[homes["moments"]] += job.gradient_copies
    moves = tuple(tensor_moves(job, homes, tiers, placement.num_microbatches))
    tokens = job.tokens * placement.num_microbatches
    shards = job.parameters / placement.ranks * job.gpus_on_node
    on_host = 0.0 if homes["moments"] in ON_GPU else shards
    return TierPlacement(
        job=job,
        tokens=tokens,
        tiers=tiers,
        bytes_by_tier=bytes_by_tier,
        moves=moves,
        compute=recomputed_time(job.parameters, tokens, job.rate, job.peak),
        on_host=on_host,
        host_update=host_update_time(on_host, CPU_ADAM.parameters, CPU_ADAM.time),
    )


def shared_memory_bandwidth(job: TieredJob) -> Bandwidth:
    """Return the bandwidth of all shared memories, at the clock of the peak rate."""
    return job.peak / job.chip.operations * SHARED_PER_CLOCK


def tile_bytes() -> tuple[Bytes, Bytes]:
    """Return the bytes of a tile's sums, and of the operand slices that are loaded for it."""
    slices = TILE_STAGES * (TILE_ROWS + TILE_COLUMNS) * _SLICE_LENGTH * HALF
    return TILE_ROWS * TILE_COLUMNS * SINGLE, slices
