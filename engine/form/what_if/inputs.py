"""Inputs of the what-if calculator: the job's most decisive settings."""

from dataclasses import dataclass, replace
from typing import Annotated

from engine.catalog.models import MODELS
from engine.core.inputs import GBITS, PERCENT, PLAIN, Choice, Number
from engine.core.text import Text
from engine.core.units import Gbit
from engine.form.fields import (
    Compiled,
    FusedAttention,
    OverlapGradientReduce,
    OverlapTensorParallel,
    OwnConstants,
    PortsPerEight,
)
from engine.form.run import inputs as _run_inputs
from engine.form.run.nearest_valid import nearest_run
from engine.run.parallelism import UNASKED
from engine.run.run import Run

MODEL_NAMES = {key: model.name for key, model in MODELS.items()}
GPU_NAMES = {
    "A100-SXM-80GB": "A100 SXM 80 GB",
    "H100-SXM": "H100 SXM",
    "H200-SXM": "H200 SXM",
    "B200": "B200",
    "MI300X": "MI300X",
}


def _count(label: str, high: int, *, low: int = 1, symbol: str = "") -> Number:
    return Number(label=label, low=low, high=high, scale="log2", whole=True, symbol=symbol)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Inputs of the what-if calculator."""

    model: Annotated[str, Choice(label="Model", cites=False, options=MODEL_NAMES)] = "llama-3-70b"
    gpu: Annotated[str, Choice(label="GPU", options=GPU_NAMES)] = "H100-SXM"
    world_size: Annotated[int, _count("GPUs", 131_072, symbol="n")] = 256
    sequence_length: Annotated[int, _count("Sequence length", 1 << 18, low=128, symbol="s")] = 8192
    global_batch_size: Annotated[int, _count("Global batch, sequences", 65_536, symbol="B")] = 256
    micro_batch_size: Annotated[int, _count("Micro-batch", 64)] = 1
    tensor_parallel: Annotated[int, _count("Tensor parallel", 64)] = 8
    pipeline_parallel: Annotated[int, _count("Pipeline parallel", 64)] = 4
    virtual_pipeline: Annotated[int, _count("Virtual stages per rank", 16)] = 1
    context_parallel: Annotated[int, _count("Context parallel", 64)] = 1
    expert_parallel: Annotated[int, _count("Expert parallel", 256)] = 1
    zero_stage: Annotated[
        str, Choice(label="ZeRO", options={"0": "0", "1": "1", "2": "2", "3": "3"})
    ] = "1"
    recompute: Annotated[
        str,
        Choice(
            label="Recompute",
            options={"none": "nothing", "selective": "attention only", "full": "every layer"},
        ),
    ] = "full"
    precision: Annotated[str, Choice(label="Precision", options={"bf16": "bf16", "fp8": "fp8"})] = (
        "bf16"
    )
    nic_bandwidth: Annotated[
        float,
        Number(label="Port, one way", unit=GBITS, low=10 * Gbit, high=1600 * Gbit, scale="log"),
    ] = 400 * Gbit
    nics_per_node: PortsPerEight = 8
    overlap_gradient_reduce: OverlapGradientReduce = UNASKED.overlap_gradient_reduce
    overlap_tensor_parallel: OverlapTensorParallel = UNASKED.overlap_tensor_parallel
    flash_attention: FusedAttention = UNASKED.flash_attention
    compiled: Compiled = UNASKED.compiled
    own_constants: OwnConstants = ""
    contention: Annotated[
        float,
        Number(
            label="Computing beside collectives is slower by",
            unit=PERCENT,
            low=0.0,
            high=0.4,
            step=0.001,
            help="Measured: 18.9 % on average, 40 % at most.",
            advanced=True,
        ),
    ] = 0.189
    kernel_gain: Annotated[
        float,
        Number(
            label="Faster communication kernels",
            unit=PLAIN,
            low=1.0,
            high=5.0,
            step=0.1,
            help="A published kernel library: up to 2.6 times as fast.",
            advanced=True,
        ),
    ] = 2.6
    imbalance: Annotated[
        float,
        Number(
            label="Busiest rank's attention over the mean",
            unit=PLAIN,
            low=1.0,
            high=2.0,
            step=0.01,
            help="Under context parallelism; 1 is balanced.",
            advanced=True,
        ),
    ] = 1.2


_OWN = ("contention", "kernel_gain", "imbalance")


def run_and_changes(inputs: Inputs) -> tuple[Run, tuple[Text, ...]]:
    """Return the nearest valid run, and its differences from the inputs as sentences."""
    names = [name for name in Inputs.__dataclass_fields__ if name not in _OWN]
    values = {name: getattr(inputs, name) for name in names}
    schedule = "interleaved" if inputs.virtual_pipeline > 1 else "1f1b"
    sequence_parallel = inputs.tensor_parallel > 1
    return nearest_run(
        replace(
            _run_inputs.Inputs(),
            **values,
            schedule=schedule,
            sequence_parallel=sequence_parallel,
            gpus_per_node=8,
        )
    )


PRESETS = {
    "405B parameters on 8,192 H100": {
        "model": "llama-3-405b",
        "world_size": 8192,
        "global_batch_size": 2048,
        "pipeline_parallel": 16,
        "virtual_pipeline": 8,
    },
    "The network first: ZeRO-3 on one 100 Gb/s port a node": {
        "model": "llama-2-13b",
        "world_size": 64,
        "sequence_length": 4096,
        "global_batch_size": 64,
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "zero_stage": "3",
        "recompute": "selective",
        "nic_bandwidth": 100 * Gbit,
        "nics_per_node": 1,
    },
    "The network first: experts exchanged between nodes": {
        "model": "qwen3-235b-a22b",
        "world_size": 256,
        "sequence_length": 4096,
        "global_batch_size": 1024,
        "tensor_parallel": 1,
        "pipeline_parallel": 4,
        "expert_parallel": 64,
        "nic_bandwidth": 100 * Gbit,
        "nics_per_node": 4,
    },
    "The network last: 8B on one node": {
        "model": "llama-3-8b",
        "world_size": 8,
        "global_batch_size": 64,
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "recompute": "full",
    },
}
