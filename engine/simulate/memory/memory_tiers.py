"""Memory tiers of one GPU: bytes in each tier, and the time of a step."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.hardware import ON_CHIP, SHARED_PER_CLOCK, OnChipMemory
from engine.catalog.hosts import CPU_ADAM, HOSTS
from engine.catalog.models import MODELS, Model
from engine.catalog.nodes import NODES
from engine.catalog.reader_constants import gpu_constants, parse_constants
from engine.core.units import Bandwidth, Bytes, Count, FlopRate, Parameters, Seconds, Share, Tokens
from engine.formulas.activations import HALF, SINGLE, layer_memory, logits_memory
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
from engine.formulas.parameters import total_parameters
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.allocator import usable_bytes
from engine.simulate.memory.memory import rank_memory

# A job with tensors in several memory tiers, and the tiers of one GPU.


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlacement:
    """A job and the tier of each of its tensors.

    Attributes:
        model, node: keys of the catalog.
        ranks: GPUs that share the states (ZeRO-3).
        homes: tensor -> "hbm", "peer" (idle GPUs), "host" or "nvme".
        own_constants: text of constants that were measured on these GPUs; empty: the catalog's.
    """

    model: str
    node: str
    ranks: Count
    sequence_length: Count
    micro_batch_size: Count
    num_microbatches: Count
    homes: Mapping[str, str]
    own_constants: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """Capacity and bandwidth of one memory tier for one GPU.

    Attributes:
        capacity: share of one GPU.
        read, write: one-way bandwidth of the wire to it, share of one GPU.
        sources: keys of the bibliography.
    """

    capacity: Bytes
    read: Bandwidth
    write: Bandwidth
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TieredJob:
    """Sizes and rates of the job on one GPU.

    Attributes:
        tokens: of one GPU in one micro-batch.
        gpus_on_node: GPUs of the job on one node.
        idle: GPUs of that node that the job leaves alone.
        sizes: of the tensors.
        gradient_copies: DeepSpeed's gradients in single precision, which lie with the moments.
        working: all else that the process needs, in HBM: what the passes work with, and reserves.
        rate: of large products, as a share of the peak.
    """

    gpu: Gpu
    model: Model
    parameters: Parameters
    tokens: Tokens
    gpus_on_node: Count
    idle: Count
    sizes: Mapping[str, Bytes]
    gradient_copies: Bytes
    working: Bytes
    peak: FlopRate
    rate: Share

    @property
    def chip(self) -> OnChipMemory:
        """Catalog row of the on-chip memories of the GPU."""
        return ON_CHIP[self.gpu.name]


def build_tiered_job(placement: JobPlacement) -> TieredJob:
    """Return the sizes and rates of a job on its node."""
    node, model = NODES[placement.node], MODELS[placement.model]
    gpu = ACCELERATORS[node.gpu]
    plan = Plan(world_size=placement.ranks, zero_stage=3)
    training = Training(
        micro_batch_size=placement.micro_batch_size,
        global_batch_size=placement.micro_batch_size * placement.num_microbatches * placement.ranks,
        sequence_length=placement.sequence_length,
        recompute="full",
        framework="deepspeed",
    )
    layer, logits = layer_memory(model, plan, training), logits_memory(model, plan, training)
    memory = rank_memory(model, plan, training)
    shard = total_parameters(model) / placement.ranks
    neighbors = min(placement.ranks, node.gpus_per_node)
    sizes = {
        "parameters": memory.parameters,
        "gradients": memory.gradients,
        "master": SINGLE * shard,
        "moments": 2 * SINGLE * shard,
        "checkpoints": layer.kept * model.num_layers,
        "logits": logits.kept,
    }
    copies = memory.optimizer - sizes["master"] - sizes["moments"]
    return TieredJob(
        gpu=gpu,
        model=model,
        parameters=total_parameters(model),
        tokens=placement.micro_batch_size * placement.sequence_length,
        gpus_on_node=neighbors,
        idle=node.gpus_per_node - neighbors,
        sizes=sizes,
        gradient_copies=copies,
        working=memory.total - sum(sizes.values()) - copies,
        peak=gpu.peak["bf16"],
        rate=gpu_constants(gpu, parse_constants(placement.own_constants)).matmul,
    )


def job_tiers(placement: JobPlacement, job: TieredJob) -> dict[str, Tier]:
    """Return the four tiers; the job's GPUs share what a node has once."""
    gpu, sharing_gpus, host = job.gpu, job.gpus_on_node, HOSTS[placement.node]
    return {
        "hbm": Tier(
            capacity=usable_bytes(gpu.memory),
            read=gpu.memory_bandwidth,
            write=gpu.memory_bandwidth,
            sources=(gpu.source,),
        ),
        "peer": Tier(
            capacity=job.idle / sharing_gpus * usable_bytes(gpu.memory),
            read=gpu.scale_up,
            write=gpu.scale_up,
            sources=(gpu.source,),
        ),
        "host": Tier(
            capacity=host.memory / sharing_gpus,
            read=gpu.pcie,
            write=gpu.pcie,
            sources=(host.source, gpu.source),
        ),
        "nvme": Tier(
            capacity=host.drives / sharing_gpus,
            read=host.read / sharing_gpus,
            write=host.write / sharing_gpus,
            sources=(host.source, host.drive_source),
        ),
    }


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
