"""The inputs of the gradient sync lab."""

from dataclasses import dataclass, replace
from typing import Annotated

from engine.catalog.constants import KEPT_FREE
from engine.catalog.hardware import GPUS
from engine.catalog.transports import INFINIBAND, NVLINK
from engine.core.inputs import BILLIONS, MEBIBYTES, MICROSECONDS, Choice, Number, Switch
from engine.core.units import MICRO, Bytes, Gbit, MiB
from engine.form.fields import PORT, LabGpu, OwnConstants
from engine.formulas.batch import usable_memory
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.run.software import DDP_BUCKET
from engine.simulate.data_parallel.sync_step import SyncJob

ELEMENT = {"fp32": 4.0, "bf16": 2.0, "fp8": 1.0}
ALGORITHMS = {
    "auto": "automatic (NCCL)",
    "ring": "ring",
    "tree": "double binary tree",
    "hierarchical": "hierarchical",
    "in_network": "in-network (NVLS, SHARP)",
}

SHARDING = {"none": "replicated (DDP)", "zero1": "ZeRO-1, gathered during the next forward"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    parameters: Annotated[
        float,
        Number(label="Parameters", unit=BILLIONS, low=1e7, high=2e12, scale="log", symbol="P"),
    ] = 7e9
    dtype: Annotated[
        str,
        Choice(label="Gradients in", options={"fp32": "fp32", "bf16": "bf16", "fp8": "fp8"}),
    ] = "bf16"
    world_size: Annotated[
        int,
        Number(label="GPUs", low=2, high=131_072, scale="log2", whole=True, symbol="n"),
    ] = 64
    port: Annotated[float, PORT] = 400 * Gbit
    tokens_per_gpu: Annotated[
        int,
        Number(
            label="Tokens per GPU",
            low=256,
            high=1_048_576,
            scale="log",
            whole=True,
            symbol="t",
            help="Tokens in one forward and backward pass of one GPU.",
        ),
    ] = 4096
    algorithm: Annotated[
        str,
        Choice(
            label="Algorithm",
            options=ALGORITHMS,
            help="Automatic is what NCCL chooses for the size of a message, sums in a node's "
            "switch included. Halves of an all-reduce, in ZeRO-1, are always its choice.",
        ),
    ] = "auto"
    overlap: Annotated[
        bool,
        Switch(label="Overlap with the backward pass", help="Reduce buckets as they are ready."),
    ] = True
    gpus_per_node: Annotated[
        int,
        Number(
            label="GPUs per node",
            low=1,
            high=72,
            whole=True,
            symbol="g",
            help="With as many GPUs as a node holds, all traffic stays on its NVLink.",
        ),
    ] = 8
    ports_per_node: Annotated[
        int,
        Number(label="Network ports per node", low=1, high=16, whole=True),
    ] = 8
    latency: Annotated[
        float,
        Number(
            label="Latency of a step between nodes",
            unit=MICROSECONDS,
            low=1 * MICRO,
            high=50 * MICRO,
            scale="log",
            symbol="α",
            advanced=True,
            help=f"Of large messages; inside a node a step takes {NVLINK.step / MICRO:.3g} µs.",
        ),
    ] = INFINIBAND.step
    bucket: Annotated[
        float,
        Number(
            label="Bucket",
            unit=MEBIBYTES,
            low=1 * MiB,
            high=1024 * MiB,
            scale="log",
            advanced=True,
            help="PyTorch DDP reduces in buckets of 25 MiB unless told otherwise; the tensor that "
            "reaches the limit closes one.",
        ),
    ] = DDP_BUCKET
    accumulation: Annotated[
        int,
        Number(
            label="Micro-batches per step",
            low=1,
            high=256,
            scale="log2",
            whole=True,
            advanced=True,
            help="Accumulated under no_sync: one all-reduce per step, behind the last backward.",
        ),
    ] = 1
    # 8 H200 are as fast as 8 H100 and hold the states of 7B parameters on every GPU.
    gpu: LabGpu = "h200"
    sharding: Annotated[str, Choice(label="Optimizer state", options=SHARDING, advanced=True)] = (
        "none"
    )
    published: Annotated[
        bool,
        Switch(label="Show a published calculator's digits beside ours"),
    ] = False
    own_constants: OwnConstants = ""


def states_of(inputs: Inputs) -> Bytes:
    """Return the bytes of parameters, gradients and optimizer per GPU."""
    stage = 1 if inputs.sharding == "zero1" else 0
    kept = replace(MIXED_PRECISION, gradient=ELEMENT[inputs.dtype])
    return sharded_states(inputs.parameters, kept, stage, inputs.world_size).total


def room_of(inputs: Inputs) -> Bytes:
    """Return the memory of a GPU that may be filled."""
    return usable_memory(GPUS[inputs.gpu].memory, KEPT_FREE)


def missing_of(inputs: Inputs) -> Bytes:
    """Return by how much the states exceed the memory of a GPU that may be filled."""
    return max(0.0, states_of(inputs) - room_of(inputs))


def job_of(inputs: Inputs) -> SyncJob:
    """Return the step that the inputs describe; a GPU brings its own links."""
    return SyncJob(
        parameters=inputs.parameters,
        element=ELEMENT[inputs.dtype],
        gpu=inputs.gpu,
        world_size=inputs.world_size,
        gpus_per_node=inputs.gpus_per_node,
        ports_per_node=inputs.ports_per_node,
        port=inputs.port,
        algorithm=inputs.algorithm,
        bucket=inputs.bucket,
        overlap=inputs.overlap,
        zero1=inputs.sharding == "zero1",
        tokens=float(inputs.tokens_per_gpu),
        accumulation=inputs.accumulation,
        latency=inputs.latency,
        own=inputs.own_constants,
    )
