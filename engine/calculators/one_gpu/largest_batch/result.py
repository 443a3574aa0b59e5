"""Results of the largest batch: fit, memory by part, and speed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import KEPT_FREE
from engine.catalog.models import MODELS
from engine.core.inputs import PERCENT, Choice, Number, Switch
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.text import Text
from engine.core.units import Bytes, Count, Ratio, Share, TokenRate
from engine.form.fields import OwnConstants
from engine.form.run.inputs import Inputs as RunInputs
from engine.form.run.nearest_valid import nearest_run
from engine.formulas.step_operations import hardware_operations, model_operations
from engine.run.doubts import RunWarnings, run_warnings
from engine.simulate.memory.allocator import Memory
from engine.simulate.step.batch_search import Probe, search_largest_batch
from engine.simulate.step.largest_batch import BatchFit, batch_fit, batch_memory, batch_token_rate
from engine.simulate.step.prediction_evidence import Evidence, evidence

# The inputs of the largest batch, and the run that they describe.

HIGHEST = 64
LORA_RANK = 16
RECOMPUTE: Mapping[str, str] = {
    "none": "nothing",
    "selective": "selective",
    "full": "every layer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(
            label="Model", cites=False, options={key: model.name for key, model in MODELS.items()}
        ),
    ] = "llama-2-7b"
    gpu: Annotated[
        str, Choice(label="GPU", options={key: gpu.name for key, gpu in ACCELERATORS.items()})
    ] = "H100-SXM"
    world_size: Annotated[
        int, Number(label="GPUs", low=1, high=131_072, scale="log2", whole=True, symbol="n")
    ] = 8
    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length", low=128, high=1 << 20, scale="log2", whole=True, symbol="s"
        ),
    ] = 4096
    micro_batch_size: Annotated[
        int,
        Number(label="Micro-batch", low=1, high=HIGHEST, scale="log", whole=True, symbol="b"),
    ] = 4
    recompute: Annotated[str, Choice(label="Recompute", options=RECOMPUTE)] = "selective"
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
        ),
    ] = "3"
    tensor_parallel: Annotated[
        int, Number(label="Tensor parallel", low=1, high=64, scale="log2", whole=True)
    ] = 1
    pipeline_parallel: Annotated[
        int, Number(label="Pipeline parallel", low=1, high=64, scale="log2", whole=True)
    ] = 1
    context_parallel: Annotated[
        int, Number(label="Context parallel", low=1, high=64, scale="log2", whole=True)
    ] = 1
    trained: Annotated[
        str,
        Choice(
            label="Trained",
            options={"full": "all parameters", "lora": f"adapters (LoRA) of rank {LORA_RANK}"},
        ),
    ] = "full"
    margin: Annotated[
        float,
        Number(
            label="Memory left free",
            unit=PERCENT,
            low=0.0,
            high=0.3,
            step=0.01,
            symbol="u",
            help="For fragments of the allocator and for peaks that no model sees.",
        ),
    ] = KEPT_FREE
    framework: Annotated[
        str,
        Choice(
            label="Software",
            options={
                "fsdp": "PyTorch FSDP, torchtitan",
                "megatron": "Megatron, NeMo",
                "deepspeed": "DeepSpeed",
            },
            advanced=True,
        ),
    ] = "fsdp"
    flash_attention: Annotated[
        bool,
        Switch(
            label="Fused attention",
            help="FlashAttention: the score matrix never reaches memory.",
            advanced=True,
        ),
    ] = True
    expert_parallel: Annotated[
        int,
        Number(label="Expert parallel", low=1, high=256, scale="log2", whole=True, advanced=True),
    ] = 1
    own_constants: OwnConstants = ""


def run_inputs(inputs: Inputs, batch: int) -> RunInputs:
    """Return the inputs of a run with micro-batches of `batch` sequences.

    The step holds as many micro-batches as there are stages, so that the pipeline is full.
    """
    parts = inputs.tensor_parallel * inputs.pipeline_parallel * inputs.context_parallel
    ranks = max(1, inputs.world_size // parts)
    return RunInputs(
        model=inputs.model,
        gpu=inputs.gpu,
        world_size=inputs.world_size,
        sequence_length=inputs.sequence_length,
        micro_batch_size=batch,
        global_batch_size=batch * ranks * inputs.pipeline_parallel,
        recompute=inputs.recompute,
        zero_stage=inputs.zero_stage,
        tensor_parallel=inputs.tensor_parallel,
        pipeline_parallel=inputs.pipeline_parallel,
        virtual_pipeline=1,
        context_parallel=inputs.context_parallel,
        expert_parallel=inputs.expert_parallel,
        framework=inputs.framework,
        own_constants=inputs.own_constants,
        flash_attention=inputs.flash_attention,
        sequence_parallel=inputs.tensor_parallel > 1,
        overlap_tensor_parallel=False,
        schedule="1f1b",
    )


@lru_cache(maxsize=256)
def fit_with_changes(inputs: Inputs) -> tuple[BatchFit, tuple[Text, ...]]:
    """Return the batch fit of the nearest valid run, and the sentences on adjusted inputs.

    Every figure of the page asks for it.
    """
    run, changes = nearest_run(run_inputs(inputs, inputs.micro_batch_size))
    if inputs.trained == "lora":
        run = replace(run, training=replace(run.training, lora_rank=LORA_RANK, lora_layers="all"))
    return batch_fit(run, inputs.margin), changes


def fit(inputs: Inputs) -> BatchFit:
    """Return the batch fit of the nearest valid run."""
    return fit_with_changes(inputs)[0]


# The largest batch: single changes of its inputs, and the memory and speed after each.

Change = Mapping[str, float | int | str | bool]
_MAX_CHANGES = 8
_FIELDS = {name: hint.__metadata__[0] for name, hint in Inputs.__annotations__.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedChange:
    """A change of inputs and its effect.

    Attributes:
        key: of the change.
        change: the changed inputs.
        fit: batch fit with the changed inputs.
        slower: lost share of the token rate; 0 where there is no speed to compare.
        ranks: data-parallel ranks.
    """

    key: str
    change: Change
    fit: BatchFit
    slower: Share
    ranks: Count


def try_changes(inputs: Inputs, fit: BatchFit, before: TokenRate) -> tuple[TriedChange, ...]:
    """Return the changes that free memory, the best first; of those, if any, that are enough."""
    changes = (
        _try_change(inputs, key, change, before)
        for key, change in _possible_changes(inputs)
        if _in_range(change)
    )
    useful = [change for change in changes if change.fit.memory.total < fit.memory.total * 0.9995]
    enough = [change for change in useful if change.fit.fit.verdict == "fits"]
    return tuple(
        sorted(enough or useful, key=lambda change: change.fit.memory.total)[:_MAX_CHANGES]
    )


def _try_change(inputs: Inputs, key: str, change: Change, before: TokenRate) -> TriedChange:
    changed = replace(inputs, **change)  # type: ignore[arg-type]
    after = fit(changed)
    compared = before and after.fit.runs
    return TriedChange(
        key=key,
        change=change,
        fit=after,
        slower=1 - batch_token_rate(after.run, changed.micro_batch_size) / before
        if compared
        else 0.0,
        ranks=after.run.plan.data_parallel,
    )


def _in_range(change: Change) -> bool:
    return all(
        field.low <= float(value) <= field.high
        for name, value in change.items()
        if isinstance(field := _FIELDS[name], Number)
    )


def _possible_changes(inputs: Inputs) -> Iterator[tuple[str, Change]]:
    for kind in ("selective", "full"):
        if kind != inputs.recompute:
            yield kind, {"recompute": kind}
    for stage in "123":
        if stage > inputs.zero_stage:
            yield f"zero{stage}", {"zero_stage": stage}
    for name in ("tensor_parallel", "pipeline_parallel", "context_parallel", "world_size"):
        yield name, {name: 2 * getattr(inputs, name)}
    if not inputs.flash_attention:
        yield "flash", {"flash_attention": True}
    yield "batch", {"micro_batch_size": inputs.micro_batch_size // 2}
    yield "length", {"sequence_length": inputs.sequence_length // 2}


# No search of the page tries more.
LIMIT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The fit, memory and speed of the job.

    Attributes:
        capacity: of the GPU.
        parameters, gradients, optimizer, activations, buffers, reserve: parts of `total`.
        ranks: of data parallelism.
        again: operations computed over those that the model needs.
        batch_fit: all of it.
        changes: what differs from the inputs.
        held: memory of some micro-batches, up to one that does not fit.
        probes: the search for the largest micro-batch by trial.
        speeds: (recomputed, micro-batch) -> speed, with one sequence and with the most that fit.
        lengths: sequence length -> what fits with fused attention, and with scores kept.
        tried: single changes that free memory, the best first.
        doubts: what speaks against the run.
        evidence: on which the speed rests.
    """

    largest: Annotated[Count, Output("Largest micro-batch", "b", color="activations")]
    total: Annotated[
        Bytes,
        Output("GPU that holds most, at your micro-batch", "M", "of {usable} that may be filled"),
    ]
    fixed: Annotated[
        Bytes,
        Output(
            "Without any sequence",
            "M0",
            color="optimizer",
            assumes=(
                "States of the rank's parameters under ZeRO, and the buffers of its framework.",
                "Extrapolated to a batch of zero from two calls of the memory model.",
            ),
            sources=("rajbhandari2020",),
        ),
    ]
    per_sequence: Annotated[
        Bytes,
        Output(
            "Each sequence adds",
            "M1",
            color="activations",
            assumes=(
                "What all layers of the stage keep for the backward pass, the logits, and what "
                "one layer works with.",
                "The difference of two calls of the memory model.",
            ),
            sources=("korthikanti2022",),
        ),
    ]
    usable: Annotated[
        Bytes,
        Output(
            "May be filled",
            "U",
            assumes=("The share left free is a planning value of the reader's.",),
        ),
    ]
    token_rate: Annotated[TokenRate, Output("Speed at your micro-batch", color="compute")]
    capacity: Annotated[Bytes, Output(symbol="C", of="gpu")]
    parameters: Annotated[Bytes, Output(symbol="P")]
    gradients: Annotated[Bytes, Output(symbol="G")]
    optimizer: Annotated[Bytes, Output(symbol="O")]
    activations: Annotated[Bytes, Output(symbol="A")]
    buffers: Annotated[Bytes, Output(symbol="B")]
    reserve: Annotated[Bytes, Output(symbol="R")]
    ranks: Count
    again: Ratio
    batch_fit: BatchFit
    changes: tuple[Text, ...]
    held: Lazy[Mapping[Count, Memory]]
    probes: Lazy[tuple[Probe, ...]]
    speeds: Lazy[Mapping[tuple[str, Count], TokenRate]]
    lengths: Lazy[Mapping[Count, tuple[BatchFit, BatchFit]]]
    tried: Lazy[tuple[TriedChange, ...]]
    doubts: RunWarnings
    evidence: Evidence


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    fit, changes = fit_with_changes(inputs)
    run, memory = fit.run, fit.memory
    # What does not fit has no speed.
    rate = batch_token_rate(run, inputs.micro_batch_size) if fit.fit.runs else 0.0
    return Result(
        largest=fit.largest,
        total=memory.total,
        fixed=fit.line.fixed,
        per_sequence=fit.line.per_sequence,
        usable=fit.usable,
        token_rate=rate,
        capacity=run.cluster.gpu.memory,
        parameters=memory.parameters,
        gradients=memory.gradients,
        optimizer=memory.optimizer,
        activations=memory.activations,
        buffers=memory.buffers,
        reserve=memory.reserve,
        ranks=run.plan.data_parallel,
        again=hardware_operations(run.model, run.training)
        / model_operations(run.model, run.training),
        batch_fit=fit,
        changes=changes,
        held=Lazy(partial(_memory_by_batch, inputs.micro_batch_size, fit)),
        probes=Lazy(
            partial(
                search_largest_batch,
                lambda micro_batch: batch_memory(run, micro_batch).total,
                fit.usable,
                LIMIT,
            )
        ),
        speeds=Lazy(partial(_speed_by_recomputation, inputs)),
        lengths=Lazy(partial(_largest_by_length, inputs)),
        tried=Lazy(partial(try_changes, inputs, fit, rate)),
        doubts=run_warnings(run),
        evidence=evidence(run),
    )


def _memory_by_batch(micro_batch: Count, fit: BatchFit) -> Mapping[Count, Memory]:
    """Return memory by micro-batch: 1, the reader's, half the largest, the largest and the next."""
    most = min(fit.largest, LIMIT)
    batches = sorted({1, micro_batch, max(1, most // 2), max(1, most), most + 1})
    return {batch: batch_memory(fit.run, batch) for batch in batches}


def _speed_by_recomputation(inputs: Inputs) -> Mapping[tuple[str, Count], TokenRate]:
    speeds = {}
    for kind in RECOMPUTE:
        other = fit(replace(inputs, recompute=kind))
        largest = min(other.largest, LIMIT)
        for batch in sorted({min(1, largest), largest} - {0}):
            speeds[kind, batch] = batch_token_rate(other.run, batch)
    return speeds


def _largest_by_length(inputs: Inputs) -> Mapping[Count, tuple[BatchFit, BatchFit]]:
    lengths = (round(inputs.sequence_length * factor) for factor in (1 / 4, 1 / 2, 1, 2, 4))
    return {
        length: (
            fit(replace(inputs, sequence_length=length, flash_attention=True)),
            fit(replace(inputs, sequence_length=length, flash_attention=False)),
        )
        for length in lengths
    }
