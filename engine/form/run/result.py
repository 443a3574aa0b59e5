"""The numbers of an estimate, as they are told: step, rates, and the memory of the fullest GPU."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from engine.basis.text import Sentence, say
from engine.basis.told import Told
from engine.basis.units import (
    COUNT,
    SHARE,
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
from engine.form.run.accuracy import ACCURACY, FITTED, LARGEST, LEFT_OUT
from engine.formulas.operations import hardware_operations, model_operations
from engine.run.file import Run

Estimate = Mapping[str, Any]
_COUNTED = (
    "Megatron's count: attention in full, the output layer, no recomputation.",
    "Other sources count otherwise; compare times instead.",
)


def band(kind: str) -> Sentence:
    """Return how far such predictions are from published runs that the fit did not see."""
    if kind == "memory":
        numbers = ACCURACY["memory"]
        words = "On {rows} published peaks of memory the mean error is {mean}; nine in ten are "
        words += "within {tail}."
    else:
        left_out = {of: (rows, mean, tail) for _, of, rows, mean, tail, _ in LEFT_OUT[:2]}
        numbers = left_out[kind]
        what = {"dense": "dense models", "mixture": "two mixtures of experts"}[kind]
        words = f"Fitted without their source, {{rows}} published steps of {what} come out "
        words += "{mean} off in the mean, nine in ten within {tail}."
    rows, mean, tail = numbers
    return say(words, rows=(rows, COUNT), mean=(mean, SHARE), tail=(tail, SHARE))


def extrapolated(run: Run) -> Sentence | None:
    """Return in what a run lies beyond the runs of the fit, if in anything."""
    found = []
    if run.plan.world_size > LARGEST:
        found.append("The largest run of the fit has {largest} GPUs: this one extrapolates.")
    gpu = run.cluster.gpu.name
    if gpu.split()[0] not in FITTED:
        found.append(
            f"No run on {gpu} was fitted: its constants are another's, or read off benchmarks."
        )
    return say(" ".join(found), largest=(LARGEST, COUNT)) if found else None


def near(run: Run) -> Sentence:
    """Return how far predictions of such a step are from published runs, and whether it is one."""
    one = band("mixture" if run.model.num_experts else "dense")
    beyond = extrapolated(run)
    if beyond is None:
        return one
    return Sentence(f"{one.template} {beyond.template}", {**one.numbers, **beyond.numbers})


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """The step of a run and what follows from it."""

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


def estimated(run: Run, found: Estimate) -> Estimated:
    """Return the step of an estimate and what follows from it."""
    time, peaks = found["time"], run.cluster.gpu.peak
    model = ("tensor_parallel", "context_parallel", "expert_parallel", "pipeline")
    alone = ("compute", "data_parallel", "bubble", "optimizer", "other")
    return Estimated(
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
        peak_rate=peaks.get(run.training.precision, peaks["fp16"]),
        flops_rate=found["model_flops_rate"],
        parameters=found["parameters"],
    )


def held(found: Estimate) -> Held:
    """Return what the fullest GPU of an estimate holds."""
    return Held(peak_memory=found["peak_memory"], **found["memory"])
