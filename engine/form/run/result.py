"""Numbers of an estimate: step, rates, and memory of the rank that holds most."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from engine.core.outputs import Output
from engine.core.units import (
    Bytes,
    Count,
    FlopRate,
    Operations,
    Parameters,
    Seconds,
    Share,
    TokenRate,
    Tokens,
)
from engine.estimate import estimate
from engine.formulas.step_operations import hardware_operations, model_operations
from engine.run.doubts import RunWarnings, run_warnings
from engine.run.run import Run
from engine.simulate.memory.allocator import MemoryFit
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.what_if import run_fit

_COUNTED = (
    "Megatron's count: attention in full, the output layer, no recomputation.",
    "Other sources count otherwise; compare times instead.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMemory:
    """Memory of the rank that holds most of a run, by part."""

    peak_memory: Annotated[Bytes, Output("Memory of the rank that holds most", symbol="M")]
    parameters: Annotated[Bytes, Output(symbol="P")]
    gradients: Annotated[Bytes, Output(symbol="G")]
    optimizer: Annotated[Bytes, Output(symbol="O")]
    activations: Annotated[Bytes, Output(symbol="A")]
    buffers: Annotated[Bytes, Output(symbol="B")]
    reserve: Annotated[Bytes, Output(symbol="R")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEstimate:
    """The estimated step of a run and derived numbers.

    Attributes:
        run: it.
        estimate: all that `python -m engine estimate` says.
        held: by the rank that holds most.
        fit: how its process fits the GPU.
        doubts: what speaks against the run.
        evidence: on which the step rests.
    """

    run: Run
    estimate: Mapping[str, Any]
    held: GpuMemory
    fit: MemoryFit
    doubts: RunWarnings
    evidence: Evidence
    step_time: Annotated[Seconds, Output("Step", symbol="T")]
    compute: Annotated[Seconds, Output(symbol="C")]
    exchange: Annotated[Seconds, Output(symbol="X")]
    data_parallel: Annotated[Seconds, Output(symbol="D")]
    bubble: Annotated[Seconds, Output(symbol="W")]
    optimizer: Annotated[Seconds, Output(symbol="O")]
    other: Annotated[Seconds, Output(symbol="R")]
    token_rate: Annotated[TokenRate, Output("Per GPU", symbol="r")]
    batch: Annotated[Count, Output(symbol="B", of="global_batch_size")]
    length: Annotated[Tokens, Output(symbol="s", of="sequence_length")]
    num_gpus: Annotated[Count, Output(symbol="n", of="world_size")]
    mfu: Annotated[Share, Output("MFU", symbol="u")]
    hfu: Annotated[Share, Output("HFU")]
    operations: Annotated[Operations, Output(symbol="Q")]
    hardware_operations: Operations
    peak_rate: Annotated[FlopRate, Output(symbol="F", of="gpu")]
    flops_rate: Annotated[
        FlopRate,
        Output("Model operations per GPU", assumes=_COUNTED, sources=("korthikanti2022",)),
    ]
    parameters: Annotated[
        Parameters,
        Output(
            "Parameters",
            assumes=("Counted from the shape, matrix by matrix.",),
            basis="definition",
        ),
    ]


def _gpu_memory(estimate_data: Mapping[str, Any]) -> GpuMemory:
    """Return the process of the rank that holds most by part; tensors leave the reserve."""
    parts = {name: size for name, size in estimate_data["memory"].items() if name != "reserve"}
    process = estimate_data["memory_process"]
    return GpuMemory(peak_memory=process, reserve=process - sum(parts.values()), **parts)


def run_estimate(run: Run) -> RunEstimate:
    """Return the estimated step of a run and derived numbers."""
    estimate_data, gpu, fit = estimate(run), run.cluster.gpu, run_fit(run)
    time = estimate_data["time"]
    model = ("tensor_parallel", "context_parallel", "expert_parallel", "pipeline")
    alone = ("compute", "data_parallel", "bubble", "optimizer", "other")
    return RunEstimate(
        run=run,
        estimate=estimate_data,
        held=_gpu_memory(estimate_data),
        fit=fit,
        doubts=run_warnings(run),
        evidence=evidence(run),
        step_time=estimate_data["step_time"],
        exchange=sum(time[name] for name in model),
        **{name: time[name] for name in alone},
        token_rate=estimate_data["tokens_per_second_per_gpu"],
        batch=run.training.global_batch_size,
        length=run.training.sequence_length,
        num_gpus=run.plan.world_size,
        mfu=estimate_data["mfu"],
        hfu=estimate_data["hfu"],
        operations=model_operations(run.model, run.training),
        hardware_operations=hardware_operations(run.model, run.training),
        peak_rate=gpu.peak[gpu.computes_in(run.training.precision)],
        flops_rate=estimate_data["model_flops_rate"],
        parameters=estimate_data["parameters"],
    )
