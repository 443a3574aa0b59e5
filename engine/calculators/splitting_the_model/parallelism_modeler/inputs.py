"""The inputs of the parallelism modeler, and the run that they describe."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.reported_runs import REPORTED, ReportedRun
from engine.core.inputs import GBITS, PERCENT, Choice, Number, Scalar, Switch
from engine.core.text import Text
from engine.core.units import LINK_SPEED, Bytes, Count, Gbit, Share
from engine.form.fields import FusedAttention, GpusPerNode, OwnConstants, kernel_efficiency
from engine.form.run.inputs import CUSTOM
from engine.form.run.inputs import Inputs as RunInputs
from engine.form.run.nearest_valid import change_sentences, nearest_inputs, nearest_run
from engine.formulas.axes import least_bandwidth
from engine.formulas.pipeline import bubble_over_ideal, bubble_share
from engine.run.run import Run
from engine.run.stage_cut import moved_layers
from engine.simulate.pipeline.published_pipeline import printed_efficiency
from engine.simulate.step.modeled_plan import ModeledPlan, model_plan

MOST_MICROBATCHES = 256
SCHEDULES: Mapping[str, str] = {
    "1f1b": "1F1B",
    "gpipe": "GPipe",
    "interleaved": "interleaved 1F1B",
    "zb-1p": "zero bubble, ZB-1p",
    "dualpipe": "DualPipe",
}
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "A published calculator's inputs": {
        "tensor_parallel": 1,
        "data_parallel": 1,
        "published": True,
    },
    "Llama 3 405B on 16,384 H100": {
        "model": "llama-3-405b",
        "sequence_length": 8192,
        "tensor_parallel": 8,
        "pipeline_parallel": 16,
        "data_parallel": 128,
        "num_microbatches": 16,
        "schedule": "interleaved",
        "virtual_pipeline": 8,
        # Gradients are sharded too, parameters are not: section 3.3.2 of the paper.
        "zero_stage": "2",
    },
    "Llama 3 8B, 131,072 tokens": {
        "model": "llama-3-8b",
        "sequence_length": 131_072,
        "tensor_parallel": 8,
        "pipeline_parallel": 1,
        "context_parallel": 4,
        "data_parallel": 2,
    },
    "DeepSeek-V3 on 2,048 H800": {
        "model": "deepseek-v3",
        "gpu": "H800-SXM",
        "tensor_parallel": 1,
        "pipeline_parallel": 16,
        "expert_parallel": 64,
        "data_parallel": 128,
        "num_microbatches": 120,
        "precision": "fp8",
        "recompute": "modules",
        "schedule": "dualpipe",
    },
}


def _degree(label: str, high: int, symbol: str = "", *, advanced: bool = False) -> Number:
    return Number(
        label=label,
        low=1,
        high=high,
        scale="log2",
        whole=True,
        symbol=symbol,
        advanced=advanced,
    )


def _moved_layers(label: str) -> Number:
    return Number(
        label=label,
        low=-20,
        high=20,
        whole=True,
        help="To the stages between, or back from them.",
    )


def _size(label: str, low: int, high: int) -> Number:
    return Number(
        label=label,
        low=low,
        high=high,
        scale="log2" if low else "linear",
        whole=True,
        advanced=True,
        help="Of a model of your own.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(
            label="Model",
            cites=False,
            options={key: model.name for key, model in MODELS.items()}
            | {CUSTOM: "your own (more inputs)"},
        ),
    ] = "llama-3-70b"
    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length", low=128, high=1 << 20, scale="log2", whole=True, symbol="s"
        ),
    ] = 4096
    micro_batch_size: Annotated[int, _degree("Micro-batch", 64, "b")] = 1
    num_microbatches: Annotated[int, _degree("Micro-batches", MOST_MICROBATCHES, "m")] = 8
    tensor_parallel: Annotated[int, _degree("Tensor parallel", 72, "t")] = 8
    pipeline_parallel: Annotated[int, _degree("Pipeline stages", 64, "p")] = 4
    context_parallel: Annotated[int, _degree("Context parallel", 64, "c")] = 1
    data_parallel: Annotated[int, _degree("Data parallel", 1024, "d")] = 4
    expert_parallel: Annotated[int, _degree("Expert parallel", 256)] = 1
    schedule: Annotated[
        str,
        Choice(
            label="Schedule",
            options=SCHEDULES,
            help="ZB-1p splits the backward pass; a search finds it within the memory of 1F1B.",
        ),
    ] = "1f1b"
    off_first: Annotated[int, _moved_layers("Layers moved off the first stage")] = 0
    off_last: Annotated[int, _moved_layers("Layers moved off the last stage")] = 0
    target: Annotated[
        float,
        Number(
            label="Exposed communication allowed",
            unit=PERCENT,
            low=0.01,
            high=1.0,
            step=0.01,
            help="As a share of the computation.",
        ),
    ] = 0.1
    convention: Annotated[
        str,
        Choice(
            label="Bubble",
            options={"share": "as a share of the step", "ideal": "over the ideal time"},
        ),
    ] = "share"
    published: Annotated[bool, Switch(label="Show a published calculator's digits beside ours")] = (
        False
    )
    gpu: Annotated[
        str,
        Choice(
            label="GPU",
            options={key: gpu.name for key, gpu in ACCELERATORS.items()},
            advanced=True,
        ),
    ] = "H100-SXM"
    utilization: Annotated[
        float,
        kernel_efficiency("Only for the least bandwidths; times come from the step model."),
    ] = 0.5
    gpus_per_node: GpusPerNode = 8
    nics_per_node: Annotated[
        int, Number(label="Ports per node", low=1, high=72, whole=True, advanced=True)
    ] = 8
    nic_bandwidth: Annotated[
        float,
        Number(
            label="Port",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="One way.",
            advanced=True,
        ),
    ] = 400 * Gbit
    virtual_pipeline: Annotated[
        int,
        Number(
            label="Virtual stages per rank",
            low=2,
            high=16,
            whole=True,
            help="If interleaved.",
            advanced=True,
        ),
    ] = 2
    zero_stage: Annotated[
        str,
        Choice(
            label="ZeRO",
            options={
                "0": "0: nothing is sharded",
                "1": "1: optimizer states",
                "2": "2: and gradients",
                "3": "3: and parameters",
            },
            advanced=True,
        ),
    ] = "1"
    recompute: Annotated[
        str,
        Choice(
            label="Recompute",
            options={
                "none": "nothing",
                "selective": "selective",
                "modules": "norms, activation functions, up-projections",
                "full": "every layer",
            },
            advanced=True,
        ),
    ] = "none"
    framework: Annotated[
        str,
        Choice(
            label="Software",
            options={
                "megatron": "Megatron, NeMo",
                "fsdp": "PyTorch FSDP, torchtitan",
                "deepspeed": "DeepSpeed",
            },
            advanced=True,
        ),
    ] = "megatron"
    precision: Annotated[
        str,
        Choice(label="Precision", options={"bf16": "bf16", "fp8": "fp8"}, advanced=True),
    ] = "bf16"
    sequence_parallel: Annotated[bool, Switch(label="Sequence parallel", advanced=True)] = True
    overlap: Annotated[
        bool,
        Switch(
            label="Tensor parallelism beside products",
            help="Its collectives in pieces, each beside a matrix product.",
            advanced=True,
        ),
    ] = False
    flash_attention: FusedAttention = True
    own_constants: OwnConstants = ""
    num_layers: Annotated[int, _size("Layers", 1, 256)] = 80
    hidden_size: Annotated[int, _size("Hidden size", 128, 32_768)] = 8192
    num_attention_heads: Annotated[int, _size("Attention heads", 1, 256)] = 64
    num_key_value_heads: Annotated[int, _size("Key-value heads", 1, 256)] = 8
    ffn_hidden_size: Annotated[int, _size("Feed-forward size", 128, 131_072)] = 28_672
    vocab_size: Annotated[int, _size("Vocabulary", 256, 262_144)] = 128_256
    num_experts: Annotated[int, _size("Experts", 0, 1024)] = 0
    experts_per_token: Annotated[int, _size("Experts per token", 1, 16)] = 2
    expert_ffn_hidden_size: Annotated[int, _size("Expert size", 128, 131_072)] = 2048


# What stands in both records under the same name.
_SHARED = tuple(
    {field.name for field in fields(Inputs)} & {field.name for field in fields(RunInputs)}
)


def run_inputs(inputs: Inputs) -> RunInputs:
    """Return the inputs of a run; data parallelism and micro-batches make its size and batch."""
    taken = {name: getattr(inputs, name) for name in _SHARED}
    ranks = (
        inputs.tensor_parallel
        * inputs.pipeline_parallel
        * inputs.context_parallel
        * inputs.data_parallel
    )
    interleaved = inputs.schedule == "interleaved" and inputs.pipeline_parallel > 1
    alone = inputs.pipeline_parallel == 1
    return RunInputs(
        **taken
        | {
            "world_size": ranks,
            "global_batch_size": inputs.micro_batch_size
            * inputs.num_microbatches
            * inputs.data_parallel,
            "virtual_pipeline": inputs.virtual_pipeline if interleaved else 1,
            "schedule": "1f1b" if alone else inputs.schedule,
            "sequence_parallel": inputs.sequence_parallel and inputs.tensor_parallel > 1,
            "overlap_tensor_parallel": inputs.overlap,
        }
    )


# Candidate changes of a plan that could lower its GPU hours.

Change = Mapping[str, float | int | str | bool]
_FIELDS = {name: hint.__metadata__[0] for name, hint in Inputs.__annotations__.items()}


def changes_of(inputs: Inputs) -> dict[str, Change]:
    """Return the changes that are within range, by name."""
    every = (*_sizes(inputs), *_settings(inputs), *_moves(inputs))
    return {key: change for key, change in every if _in_range(change)}


def _in_range(change: Change) -> bool:
    return all(
        field.low <= float(value) <= field.high
        for name, value in change.items()
        if isinstance(field := _FIELDS[name], Number)
    )


def _sizes(inputs: Inputs) -> Iterator[tuple[str, Change]]:
    batches, stages, tensor = (
        inputs.num_microbatches,
        inputs.pipeline_parallel,
        inputs.tensor_parallel,
    )
    yield "microbatches", {"num_microbatches": 2 * batches}
    if batches > 1 and batches % 2 == 0:
        sequences = 2 * inputs.micro_batch_size
        yield "larger", {"num_microbatches": batches // 2, "micro_batch_size": sequences}
    if stages > 1:
        yield "stages", {"pipeline_parallel": stages - 1}
    if stages > 2 and stages % 2 == 0:
        yield "half_stages", {"pipeline_parallel": stages // 2}
    yield "less_tensor", {"tensor_parallel": tensor // 2}
    yield "more_tensor", {"tensor_parallel": 2 * tensor}
    if inputs.context_parallel > 1:
        yield "context", {"context_parallel": inputs.context_parallel // 2}


def _settings(inputs: Inputs) -> Iterator[tuple[str, Change]]:
    if inputs.pipeline_parallel > 1 and inputs.schedule != "interleaved":
        yield "interleaved", {"schedule": "interleaved"}
    if inputs.pipeline_parallel > 1 and inputs.schedule != "zb-1p":
        yield "zero_bubble", {"schedule": "zb-1p"}
    if not inputs.overlap and inputs.tensor_parallel > 1:
        yield "overlap", {"overlap": True}
    if not inputs.sequence_parallel and inputs.tensor_parallel > 1:
        yield "sequence", {"sequence_parallel": True}
    if inputs.recompute != "none":
        yield "recompute", {"recompute": "none"}
    yield "port", {"nic_bandwidth": 2 * inputs.nic_bandwidth}


def _moves(inputs: Inputs) -> Iterator[tuple[str, Change]]:
    """Yield variants with a layer moved off the last stage, and off both ends."""
    if inputs.pipeline_parallel < 3:
        return
    last, first = inputs.off_last + 1, inputs.off_first + 1
    yield "off_last", {"off_last": last}
    yield "off_ends", {"off_last": last, "off_first": first}


# The nearest possible plan to the inputs, and its published report.

_AXES = ("tensor_parallel", "pipeline_parallel", "context_parallel")
_FOLLOWING = frozenset({"world_size", "global_batch_size"})  # the page has no such inputs


@lru_cache(maxsize=128)
def possible_plan(inputs: Inputs) -> tuple[ModeledPlan, tuple[Text, ...]]:
    """Return the modeled nearest possible plan, and its differences from the inputs."""
    run_settings = run_inputs(inputs)
    possible = nearest_inputs(run_settings)
    # Fewer ranks of an axis make a smaller job; replicas and micro-batches stay as they are.
    lowered = {name: getattr(possible, name) for name in _AXES}
    smaller = run_inputs(replace(inputs, **lowered))
    run, _ = nearest_run(smaller)
    changes = change_sentences(run_settings, nearest_inputs(smaller), _FOLLOWING)
    run = replace(run, plan=replace(run.plan, stage_layers=_stage_layers(inputs, run)))
    return model_plan(run, inputs.utilization), changes


@cache
def _reported_runs() -> tuple[tuple[Run, ReportedRun], ...]:
    return tuple(
        (nearest_run(RunInputs(**report.settings))[0], report)  # type: ignore[arg-type]
        for report in REPORTED.values()
    )


def reported_run(run: Run) -> ReportedRun | None:
    """Return the published report of exactly this run, if any."""
    return next(
        (
            report
            for known, report in _reported_runs()
            if _without_idle_switch(known) == _without_idle_switch(run)
        ),
        None,
    )


def _without_idle_switch(run: Run) -> Run:
    """Return the run without switches that have no effect on a single rank."""
    if run.plan.tensor_parallel > 1:
        return run
    return replace(run, training=replace(run.training, overlap_tensor_parallel=False))


def _stage_layers(inputs: Inputs, run: Run) -> tuple[Count, ...]:
    """Return the layers of each stage; empty if none was moved. Virtual stages stay."""
    plan = run.plan
    moved = inputs.off_first or inputs.off_last
    if plan.pipeline_parallel == 1 or plan.virtual_pipeline > 1 or not moved:
        return ()
    layers = run.model.num_layers
    return moved_layers(layers, plan.pipeline_parallel, inputs.off_first, inputs.off_last)


# Our numbers for the quantities of a published calculator.


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Our numbers for a published calculator's quantities: 1F1B of the configured stages.

    Attributes:
        advised: what it prints, and what is left of the step, for twice the micro-batches and for
            one stage less.
    """

    asked_operations: Count
    asked_transfer: Bytes
    asked_transfers: Bytes
    asked_share: Share
    asked_ideal: Share
    asked_bandwidth: Annotated[float, LINK_SPEED]
    last_activation: Bytes
    advised: tuple[tuple[str, float], ...]


def published_inputs_result(inputs: Inputs, plan: ModeledPlan, whole: Bytes) -> Asked:
    """Return the numbers; `whole` is the stage-boundary transfer of a micro-batch."""
    p, m = inputs.pipeline_parallel, inputs.num_microbatches
    both = 2 * m * whole
    per_gpu = both / inputs.tensor_parallel / inputs.context_parallel
    fewer = max(p - 1, 1)
    return Asked(
        asked_operations=2 * p * m,
        asked_transfer=both,
        asked_transfers=(p - 1) * both,
        asked_share=bubble_share(p, m),
        asked_ideal=bubble_over_ideal(p, m),
        asked_bandwidth=least_bandwidth(per_gpu, plan.computation) if p > 1 else 0.0,
        last_activation=plan.stages[-1].memory.activations,
        advised=(
            (printed_efficiency(p, 2 * m), 1 - bubble_share(p, 2 * m)),
            (printed_efficiency(fewer, m), 1 - bubble_share(fewer, m)),
        ),
    )
