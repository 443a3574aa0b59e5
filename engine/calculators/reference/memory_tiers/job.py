"""The job and the machine of the memory tiers, as one GPU sees them."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.basis.units import Bandwidth, Bytes, Count, FlopRate, Parameters, Share, Tokens
from engine.calculators.reference.memory_tiers.inputs import Inputs, home
from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.constants import achieved
from engine.catalog.hosts import HOSTS
from engine.catalog.models import MODELS, Model
from engine.catalog.nodes import NODES
from engine.formulas.activations import HALF, SINGLE, layer_memory, logits_memory
from engine.formulas.parameters import dense_layer_parameters, total_parameters
from engine.run.parallelism import Plan, Training
from engine.simulate.memory import gathered, reserve


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


def job_of(inputs: Inputs) -> Job:
    """Return the job that the inputs describe, on its node."""
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


def tiers_of(inputs: Inputs, job: Job) -> dict[str, Tier]:
    """Return the four memories; what a node has once is shared by the job's GPUs on it."""
    gpu, ours, host = job.gpu, job.neighbors, HOSTS[inputs.node]
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
