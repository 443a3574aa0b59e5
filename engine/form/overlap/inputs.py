"""Inputs of the overlap calculator."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse_constants
from engine.core.inputs import GBITS, Choice, Number
from engine.core.units import Count, Gbit
from engine.form.fields import LabGpu, OwnConstants
from engine.run.parallelism import Cluster, Plan, Training
from engine.run.run import Run

DENSE = ("llama-3-8b", "llama-2-13b", "llama-3-70b", "llama-3-405b", "gpt-3-175b")
SCHEDULES = {
    "blocking": "Blocking",
    "buckets": "DDP buckets",
    "sharded": "FSDP prefetch",
    "async": "Async TP",
    "paired": "Paired passes",
}
_POWERS = {str(2**i): str(2**i) for i in range(5)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Inputs of the overlap calculator."""

    schedule: Annotated[
        str,
        Choice(
            label="Schedule shown",
            options=SCHEDULES,
            help="Each keeps what the one before it does, and hides one thing more.",
        ),
    ] = "sharded"
    gradients: Annotated[
        str,
        Choice(
            label="Gradients are reduced in",
            options={"fp32": "fp32", "bf16": "bf16"},
            help="Unasked, torchtitan and DDP under autocast reduce in fp32.",
        ),
    ] = "fp32"
    tokens: Annotated[
        int,
        Number(
            label="Tokens of a micro-batch",
            low=1024,
            high=131_072,
            scale="log2",
            whole=True,
            symbol="t",
            help="One pass of one replica; its tensor-parallel GPUs share them.",
        ),
    ] = 16_384
    port: Annotated[
        float,
        Number(
            label="Network port per GPU",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="Line rate, one way.",
        ),
    ] = 400 * Gbit
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in DENSE})
    ] = "llama-3-70b"
    gpu: LabGpu = "h100"
    tensor_parallel: Annotated[
        str,
        Choice(
            label="Tensor parallel",
            options={key: _POWERS[key] for key in ("1", "2", "4", "8")},
            advanced=True,
        ),
    ] = "8"
    pipeline_parallel: Annotated[
        str, Choice(label="Pipeline stages", cites=False, options=_POWERS, advanced=True)
    ] = "4"
    data_parallel: Annotated[
        int,
        Number(label="Data parallel", low=1, high=2048, scale="log2", whole=True, advanced=True),
    ] = 32
    num_microbatches: Annotated[
        int,
        Number(
            label="Micro-batches per step",
            low=1,
            high=128,
            scale="log2",
            whole=True,
            symbol="m",
            advanced=True,
        ),
    ] = 16
    own_constants: OwnConstants = ""


# Inputs of older links: each was a setting of a simulation beside the estimate.
FORMERLY = {
    "slow_down": "",
    "bucket": "",
    "prefetch": "",
    "reshard": "",
    "fp32_gradients": "",
    "deviation": "",
}
_NODE: Count = 8


def overlap_run(inputs: Inputs) -> Run:
    """Return the job of the inputs, under PyTorch, for any schedule."""
    tensor, stages = int(inputs.tensor_parallel), int(inputs.pipeline_parallel)
    half = inputs.gradients == "bf16"
    return Run(
        model=MODELS[inputs.model],
        cluster=Cluster(
            gpu=GPUS[inputs.gpu],
            gpus_per_node=_NODE,
            nics_per_node=_NODE,
            nic_bandwidth=inputs.port,
            own=parse_constants(inputs.own_constants),
        ),
        plan=Plan(
            world_size=tensor * stages * inputs.data_parallel,
            tensor_parallel=tensor,
            pipeline_parallel=stages,
            sequence_parallel=tensor > 1,
            zero_stage=0,
        ),
        training=Training(
            micro_batch_size=1,
            global_batch_size=inputs.data_parallel * inputs.num_microbatches,
            sequence_length=inputs.tokens,
            framework="fsdp",
            gradient_precision="bf16" if half else "",
        ),
    )
