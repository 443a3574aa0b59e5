"""A job with tensors in several memory tiers, and the tiers of one GPU."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.hardware import ON_CHIP, OnChipMemory
from engine.catalog.hosts import HOSTS
from engine.catalog.models import MODELS, Model
from engine.catalog.nodes import NODES
from engine.catalog.reader_constants import gpu_constants, parse_constants
from engine.core.units import Bandwidth, Bytes, Count, FlopRate, Parameters, Share, Tokens
from engine.formulas.activations import SINGLE, layer_memory, logits_memory
from engine.formulas.parameters import total_parameters
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.allocator import usable_bytes
from engine.simulate.memory.memory import rank_memory


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlacement:
    """A job and the tier of each of its tensors.

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
        rate=gpu_constants(gpu, parse_constants(placement.own)).matmul,
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
