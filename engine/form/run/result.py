"""The numbers of an estimate, as they are told: step, rates, and the memory of the fullest GPU."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from engine.basis.text import Sentence, say
from engine.basis.told import Told
from engine.basis.units import (
    COUNT,
    SECONDS,
    SHARE,
    TOKENS,
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
from engine.catalog.nearby import Nearby
from engine.catalog.published_runs_sources import SOURCES
from engine.form.run.accuracy import ACCURACY, LEFT_OUT
from engine.formulas.operations import hardware_operations, model_operations
from engine.run.file import Run
from engine.simulate.nearest_runs import nearest
from engine.simulate.step_range import spread

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


def near(run: Run) -> Sentence:
    """Return in what range four in five such steps lie, on what it rests, and what lies beyond."""
    found = spread(run)
    words = "Four in five unseen runs of this kind ({runs} {name}) took between {less} less and "
    words += "{more} more than predicted."
    if found.beyond:
        words = f"The range is widened, from {found.low:.2f} to {found.high:.2f} times this step. "
        words += " ".join(found.beyond) + " The {runs} runs nearest in kind are {name}."
        return say(words.replace("{name}", found.name), runs=(found.runs, COUNT))
    return say(
        words.replace("{name}", found.name),
        runs=(found.runs, COUNT),
        less=(1 - found.low, SHARE),
        more=(found.high - 1, SHARE),
    )


def measured_nearby(run: Run) -> tuple[Sentence, ...]:
    """Return what was measured of the published runs nearest to a run."""
    return tuple(_measured(one) for one in nearest(run))


def _measured(one: Nearby) -> Sentence:
    sizes = {
        "TP": one.tensor, "PP": one.pipeline, "CP": one.context, "EP": one.expert
    }  # fmt: skip
    plan = " ".join(f"{key}{size}" for key, size in sizes.items() if size > 1)
    plan += f"{' ' if plan else ''}ZeRO-{one.zero}" if one.zero else ""
    precision = {16: "16 bits", 8: "fp8", 4: "fp4"}[one.bits]
    source = tuple(SOURCES.values())[one.source][1]
    return say(
        f"Measured nearby: {one.name} on {{gpus}} {one.gpu} in {precision}, {plan or 'no split'}, "
        f"{{batch}} sequences of {{length}}: {{time}} ({source}).",
        gpus=(one.gpus, COUNT),
        batch=(one.batch, COUNT),
        length=(one.length, TOKENS),
        time=(one.time, SECONDS),
    )


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
