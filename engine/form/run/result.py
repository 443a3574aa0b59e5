"""The numbers of an estimate, as they are told: step, rates, and the memory of the fullest GPU."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from engine.core.outputs import Told
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
from engine.formulas.operations import hardware_operations, model_operations
from engine.run.doubts import Doubts, doubts
from engine.run.run import Run
from engine.simulate.memory.allocator import usable
from engine.simulate.step.prediction_evidence import Evidence, evidence

_COUNTED = (
    "Megatron's count: attention in full, the output layer, no recomputation.",
    "Other sources count otherwise; compare times instead.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What the fullest GPU of a run holds."""

    peak_memory: Annotated[Bytes, Told("Fullest GPU", symbol="M")]
    parameters: Annotated[Bytes, Told(symbol="P")]
    gradients: Annotated[Bytes, Told(symbol="G")]
    optimizer: Annotated[Bytes, Told(symbol="O")]
    activations: Annotated[Bytes, Told(symbol="A")]
    buffers: Annotated[Bytes, Told(symbol="B")]
    reserve: Annotated[Bytes, Told(symbol="R")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """The step of a run and what follows from it.

    Attributes:
        run: it.
        estimate: all that `python -m engine estimate` says.
        held: by the fullest GPU.
        usable: of its memory.
        fits: what it holds is no more.
        doubts: what speaks against the run.
        evidence: on which the step rests.
    """

    run: Run
    estimate: Mapping[str, Any]
    held: Held
    usable: Bytes
    fits: bool
    doubts: Doubts
    evidence: Evidence
    step_time: Annotated[Seconds, Told("Step", symbol="T")]
    compute: Annotated[Seconds, Told(symbol="C")]
    exchange: Annotated[Seconds, Told(symbol="X")]
    data_parallel: Annotated[Seconds, Told(symbol="D")]
    bubble: Annotated[Seconds, Told(symbol="W")]
    optimizer: Annotated[Seconds, Told(symbol="O")]
    other: Annotated[Seconds, Told(symbol="R")]
    token_rate: Annotated[TokenRate, Told("Per GPU", symbol="r")]
    batch: Annotated[Count, Told(symbol="B", of="global_batch_size")]
    length: Annotated[Tokens, Told(symbol="s", of="sequence_length")]
    num_gpus: Annotated[Count, Told(symbol="n", of="world_size")]
    mfu: Annotated[Share, Told("MFU", symbol="u")]
    hfu: Annotated[Share, Told("HFU")]
    operations: Annotated[Operations, Told(symbol="Q")]
    hardware_operations: Operations
    peak_rate: Annotated[FlopRate, Told(symbol="F", of="gpu")]
    flops_rate: Annotated[
        FlopRate,
        Told("Model operations per GPU", assumes=_COUNTED, sources=("korthikanti2022",)),
    ]
    parameters: Annotated[
        Parameters,
        Told(
            "Parameters",
            assumes=("Counted from the shape, matrix by matrix.",),
            basis="definition",
        ),
    ]


def estimated(run: Run) -> Estimated:
    """Return the step of a run and what follows from it."""
    found, gpu = estimate(run), run.cluster.gpu
    time = found["time"]
    model = ("tensor_parallel", "context_parallel", "expert_parallel", "pipeline")
    alone = ("compute", "data_parallel", "bubble", "optimizer", "other")
    return Estimated(
        run=run,
        estimate=found,
        held=Held(peak_memory=found["peak_memory"], **found["memory"]),
        usable=usable(gpu.memory, run.training),
        fits=found["fits"],
        doubts=doubts(run),
        evidence=evidence(run),
        step_time=found["step_time"],
        exchange=sum(time[name] for name in model),
        **{name: time[name] for name in alone},
        token_rate=found["tokens_per_second_per_gpu"],
        batch=run.training.global_batch_size,
        length=run.training.sequence_length,
        num_gpus=run.plan.world_size,
        mfu=found["mfu"],
        hfu=found["hfu"],
        operations=model_operations(run.model, run.training),
        hardware_operations=hardware_operations(run.model, run.training),
        peak_rate=gpu.peak[gpu.computes_in(run.training.precision)],
        flops_rate=found["model_flops_rate"],
        parameters=found["parameters"],
    )
