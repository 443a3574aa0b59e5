"""The memory tiers of one GPU: what each holds, and what every tensor moves over which wire."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.accelerators import ACCELERATORS, Gpu
from engine.calculators._tiers_inputs import TENSORS, Inputs, home
from engine.constants import achieved
from engine.formulas.activations import HALF, SINGLE, layer_memory, logits_memory
from engine.formulas.offload import (
    ACTIVATION_MOVES,
    GRADIENT_STORES,
    OPTIMIZER_MOVES,
    PARAMETER_LOADS,
    host_update_time,
    moving_time,
    recomputed_time,
)
from engine.formulas.parameters import dense_layer_parameters, total_parameters
from engine.hosts import CPU_ADAM, HOSTS, Host
from engine.models import MODELS, Model
from engine.nodes import NODES
from engine.parallelism import Plan, Training
from engine.simulate.memory import gathered, reserve
from engine.units import Bandwidth, Bytes, Count, FlopRate, Parameters, Seconds, Share, Tokens

ON_GPU = ("hbm", "peer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """One memory as one GPU finds it.

    Attributes:
        capacity: the share of one GPU.
        read, write: bandwidth of the wire to it, one way, likewise.
        sources: keys of the bibliography.
    """

    capacity: Bytes
    read: Bandwidth
    write: Bandwidth
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A tensor crosses the wire of a tier.

    Attributes:
        tensor: its key.
        wire: "hbm", "peer" (NVLink), "host" (PCIe) or "nvme".
        size: all crossings of a step together.
        time: that they take.
        update: it belongs to the update, not to the passes.
    """

    tensor: str
    wire: str
    size: Bytes
    time: Seconds
    update: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The job as one GPU sees it.

    Attributes:
        tokens: of one GPU in one micro-batch.
        neighbors: GPUs of the job on one node.
        idle: GPUs of that node that the job leaves alone.
        sizes: of the tensors.
        working: what the passes need in HBM besides, the reserve of the framework included.
        rate: of large products, as a share of the peak.
    """

    gpu: Gpu
    model: Model
    parameters: Parameters
    tokens: Tokens
    neighbors: Count
    idle: Count
    sizes: Mapping[str, Bytes]
    working: Bytes
    peak: FlopRate
    rate: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Everything that the views show.

    Attributes:
        held: by tier.
        compute: of all passes of a step.
        host_update: of Adam on the host's processors; 0 where the GPU updates.
    """

    job: Job
    tiers: Mapping[str, Tier]
    held: Mapping[str, Bytes]
    moves: tuple[Move, ...]
    compute: Seconds
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

    def over(self) -> tuple[str, ...]:
        """Return the tiers that hold more than they can."""
        return tuple(key for key, tier in self.tiers.items() if self.held[key] > tier.capacity)


def place(inputs: Inputs) -> Placement:
    """Return what the reader's placement holds and moves."""
    job = _job(inputs)
    tiers = _tiers(job, HOSTS[inputs.node])
    homes = {tensor: home(inputs, tensor) for tensor in TENSORS}
    held = {key: 0.0 for key in tiers} | {"hbm": job.working}
    for tensor, tier in homes.items():
        held[tier] += job.sizes[tensor]
    moves = tuple(_moves(job, homes, tiers, inputs.num_microbatches))
    tokens = job.tokens * inputs.num_microbatches
    shards = job.parameters / inputs.ranks * job.neighbors
    on_host = homes["moments"] not in ON_GPU
    return Placement(
        job=job,
        tiers=tiers,
        held=held,
        moves=moves,
        compute=recomputed_time(job.parameters, tokens, job.rate, job.peak),
        host_update=host_update_time(shards, CPU_ADAM.parameters, CPU_ADAM.time)
        if on_host
        else 0.0,
    )


def _job(inputs: Inputs) -> Job:
    node, model = NODES[inputs.node], MODELS[inputs.model]
    gpu = ACCELERATORS[node.gpu]
    plan = Plan(world_size=inputs.ranks, zero_stage=3)
    training = Training(
        micro_batch_size=inputs.micro_batch_size,
        global_batch_size=inputs.micro_batch_size * inputs.num_microbatches * inputs.ranks,
        sequence_length=inputs.sequence_length,
        recompute="full",
        framework="deepspeed",
    )
    layer, logits = layer_memory(model, plan, training), logits_memory(model, plan, training)
    shard = total_parameters(model) / inputs.ranks
    neighbors = min(inputs.ranks, node.gpus_per_node)
    sizes = {
        "parameters": HALF * shard,
        "gradients": HALF * shard,
        "master": SINGLE * shard,
        "moments": 2 * SINGLE * shard,
        "checkpoints": layer.kept * model.num_layers,
        "logits": logits.kept,
    }
    # What is gathered or fetched for the passes, and the gradients of one layer on their way.
    working = max(layer.working, logits.working)
    if inputs.ranks > 1 or home(inputs, "parameters") != "hbm":
        working += gathered(model, plan)
    if inputs.ranks > 1 or home(inputs, "gradients") != "hbm":
        working += HALF * dense_layer_parameters(model).total
    return Job(
        gpu=gpu,
        model=model,
        parameters=total_parameters(model),
        tokens=inputs.micro_batch_size * inputs.sequence_length,
        neighbors=neighbors,
        idle=node.gpus_per_node - neighbors,
        sizes=sizes,
        working=working + reserve(training, working),
        peak=gpu.peak["bf16"],
        rate=achieved(gpu).matmul,
    )


def _tiers(job: Job, host: Host) -> dict[str, Tier]:
    """Return the four memories; what a node has once is shared by the job's GPUs on it."""
    gpu, ours = job.gpu, job.neighbors
    return {
        "hbm": Tier(
            capacity=gpu.memory,
            read=gpu.memory_bandwidth,
            write=gpu.memory_bandwidth,
            sources=(gpu.source,),
        ),
        "peer": Tier(
            capacity=job.idle / ours * gpu.memory,
            read=gpu.scale_up,
            write=gpu.scale_up,
            sources=(gpu.source,),
        ),
        "host": Tier(
            capacity=host.memory / ours,
            read=gpu.pcie,
            write=gpu.pcie,
            sources=(host.source, gpu.source),
        ),
        "nvme": Tier(
            capacity=host.drives / ours,
            read=host.read / ours,
            write=host.write / ours,
            sources=(host.source, host.drive_source),
        ),
    }


def _moves(
    job: Job, homes: Mapping[str, str], tiers: Mapping[str, Tier], microbatches: Count
) -> Iterator[Move]:
    """Yield every crossing. The update runs on the GPU, or on the host if the moments are there."""
    near = homes["moments"] in ON_GPU
    g = microbatches
    # (tensor, reads in the passes, writes in the passes, reads and writes of the update)
    counts = (
        ("parameters", PARAMETER_LOADS * g, 0, (0, 1)),
        ("gradients", 0, GRADIENT_STORES * g, (1, 0)),
        ("master", 0, 0, (1, OPTIMIZER_MOVES - 1)),
        ("moments", 0, 0, (1, OPTIMIZER_MOVES - 1)),
        ("checkpoints", g, (ACTIVATION_MOVES - 1) * g, (0, 0)),
        ("logits", g, (ACTIVATION_MOVES - 1) * g, (0, 0)),
    )
    for tensor, reads, writes, (again, back) in counts:
        at, size = homes[tensor], job.sizes[tensor]
        if reads or writes:
            yield _move(tensor, at, tiers[at], size, (reads, writes))
        wire = at if near else _from_host(at)
        if wire and (again or back):
            yield _move(tensor, wire, tiers[wire], size, (again, back), update=True)


def _from_host(tier: str) -> str:
    """Return the wire from the host's processors to a tier; none to their own memory."""
    return {"hbm": "host", "peer": "host", "host": "", "nvme": "nvme"}[tier]


def _move(
    tensor: str,
    wire: str,
    tier: Tier,
    size: Bytes,
    times: tuple[Count, Count],
    *,
    update: bool = False,
) -> Move:
    reads, writes = times
    return Move(
        tensor=tensor,
        wire=wire,
        size=(reads + writes) * size,
        time=moving_time(size, reads, tier.read) + moving_time(size, writes, tier.write),
        update=update,
    )
