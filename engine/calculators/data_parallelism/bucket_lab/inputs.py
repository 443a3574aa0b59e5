"""The inputs of the bucket lab."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS, SMALL_MODELS, Model
from engine.core.inputs import MEBIBYTES, PERCENT, Choice, Number, Switch
from engine.core.units import Gbit, MiB
from engine.form.fields import PORT, LabGpu, OwnConstants, PortsPerEight
from engine.form.gradient_type import GradientType
from engine.run.software import DDP_BUCKET, DDP_FIRST_BUCKET
from engine.simulate.data_parallel.bucketed_step import BucketedJob

OFFERED: Mapping[str, Model] = {
    **{key: SMALL_MODELS[key] for key in ("llama-3.2-3b", "llama-3.2-1b")},
    **{key: MODELS[key] for key in ("llama-2-7b", "llama-3-8b")},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    bucket: Annotated[
        float,
        Number(
            label="Bucket",
            unit=MEBIBYTES,
            low=1 * MiB,
            high=500 * MiB,
            scale="log",
            symbol="b",
            help="bucket_cap_mb of DistributedDataParallel; PyTorch's default is 25 MiB.",
        ),
    ] = DDP_BUCKET
    slow_down: Annotated[
        float,
        Number(
            label="Contention",
            unit=PERCENT,
            low=0.0,
            high=0.5,
            step=0.01,
            symbol="c",
            help="While an all-reduce runs, computation takes this much longer. 0: what the step "
            "model takes for the bytes that move.",
        ),
    ] = 0.0
    tokens: Annotated[
        int,
        Number(
            label="Tokens per GPU",
            low=256,
            high=131_072,
            scale="log2",
            whole=True,
            symbol="t",
        ),
    ] = 8192
    world_size: Annotated[
        int, Number(label="GPUs", low=2, high=1024, scale="log2", whole=True, symbol="n")
    ] = 64
    model: Annotated[
        str,
        Choice(
            label="Model", cites=False, options={key: model.name for key, model in OFFERED.items()}
        ),
    ] = "llama-3.2-3b"
    dtype: GradientType = "fp32"
    order: Annotated[
        str,
        Choice(
            label="Packed in the order",
            options={"ready": "of the backward pass", "registered": "of the model"},
        ),
    ] = "ready"
    overlap: Annotated[
        bool, Switch(label="Overlap", help="Off: all buckets after the backward pass.")
    ] = True
    first: Annotated[
        float,
        Number(
            label="First bucket",
            unit=MEBIBYTES,
            low=0.25 * MiB,
            high=500 * MiB,
            scale="log",
            advanced=True,
            help="1 MiB in PyTorch, as long as bucket_cap_mb is not set.",
        ),
    ] = DDP_FIRST_BUCKET
    port: Annotated[float, replace(PORT, advanced=True)] = 400 * Gbit
    ports: PortsPerEight = 8
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


def setting_of(inputs: Inputs) -> BucketedJob:
    """Return the job; nodes have eight GPUs."""
    return BucketedJob(
        model=OFFERED[inputs.model],
        gpu=inputs.gpu,
        world_size=inputs.world_size,
        ports_per_node=inputs.ports,
        port=inputs.port,
        tokens=float(inputs.tokens),
        gradient=inputs.dtype,
        cap=inputs.bucket,
        first=min(inputs.first, inputs.bucket),
        ready=inputs.order == "ready",
        overlap=inputs.overlap,
        slow_down=inputs.slow_down,
        own=inputs.own_constants,
    )


def memory_of(inputs: Inputs) -> float:
    """Return the memory of the GPU."""
    return GPUS[inputs.gpu].memory
