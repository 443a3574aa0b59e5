"""A job whose tensors live in several memories, and those memories, as one GPU sees them."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.hardware import ON_CHIP, OnChip
from engine.catalog.hosts import HOSTS
from engine.catalog.models import MODELS, Model
from engine.catalog.nodes import NODES
from engine.catalog.reader_constants import parse, reached
from engine.core.units import Bandwidth, Bytes, Count, FlopRate, Parameters, Share, Tokens
from engine.formulas.activations import HALF, SINGLE, layer_memory, logits_memory
from engine.formulas.parameters import dense_layer_parameters, total_parameters
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.allocator import reserve
from engine.simulate.memory.memory_buffers import gathered


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A job, and where its tensors live.

    Attributes:
        model, node: keys of the catalog.
        ranks: GPUs that share the states (ZeRO-3).
        homes: tensor -> "hbm", "peer" (idle GPUs), "host" or "nvme".
        own: text of constants that were measured on these GPUs; empty: the catalog's.
    """

    model: str
    node: str
    ranks: Count
    sequence_length: Count
    micro_batch_size: Count
    num_microbatches: Count
    homes: Mapping[str, str]
    own: str = ""


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

    @property
    def chip(self) -> OnChip:
        """What lies on the chip of its GPU."""
        return ON_CHIP[self.gpu.name]


def job_of(placed: Placed) -> Job:
    """Return the job on its node."""
    node, model = NODES[placed.node], MODELS[placed.model]
    gpu = ACCELERATORS[node.gpu]
    plan = Plan(world_size=placed.ranks, zero_stage=3)
    training = Training(
        micro_batch_size=placed.micro_batch_size,
        global_batch_size=placed.micro_batch_size * placed.num_microbatches * placed.ranks,
        sequence_length=placed.sequence_length,
        recompute="full",
        framework="deepspeed",
    )
    layer, logits = layer_memory(model, plan, training), logits_memory(model, plan, training)
    shard = total_parameters(model) / placed.ranks
    neighbors = min(placed.ranks, node.gpus_per_node)
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
    if placed.ranks > 1 or placed.homes["parameters"] != "hbm":
        working += gathered(model, plan)
    if placed.ranks > 1 or placed.homes["gradients"] != "hbm":
        working += HALF * dense_layer_parameters(model).total
    return Job(
        gpu=gpu,
        model=model,
        parameters=total_parameters(model),
        tokens=placed.micro_batch_size * placed.sequence_length,
        neighbors=neighbors,
        idle=node.gpus_per_node - neighbors,
        sizes=sizes,
        working=working + reserve(training, working, placed.ranks),
        peak=gpu.peak["bf16"],
        rate=reached(gpu, parse(placed.own)).matmul,
    )


def tiers_of(placed: Placed, job: Job) -> dict[str, Tier]:
    """Return the four memories; what a node has once is shared by the job's GPUs on it."""
    gpu, ours, host = job.gpu, job.neighbors, HOSTS[placed.node]
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
