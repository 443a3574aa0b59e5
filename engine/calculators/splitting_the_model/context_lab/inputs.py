"""Inputs of the context-parallelism lab."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, cast

from engine.catalog.measured_rings import MEASURED_RINGS
from engine.catalog.measured_timings import OWN_ATTENTIONS
from engine.catalog.models import MODELS, Model
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number, Scalar
from engine.core.units import Bytes, Count, FlopRate, Ratio, Seconds, Share, Tokens
from engine.form.fields import OwnConstants
from engine.formulas.context import ring_buffer
from engine.run.machines import cluster_of
from engine.run.parallelism import Plan, Recompute, Training
from engine.simulate.collectives.measured_ring import modeled_rate
from engine.simulate.layer.attention_masks import Layout
from engine.simulate.layer.measured_attention import measured_and_modeled_rates
from engine.simulate.step.context_job import (
    ContextJob,
    ContextMethod,
    added_attention_time,
    layer_time_without_context,
    most_hidden_ranks,
    ring_overlap_ratio,
)

_MODELS = ("llama-3-8b", "llama-3-70b", "llama-3-405b", "gpt-3-175b")
_MACHINES = ("dgx-a100", "dgx-h100", "grand-teton", "dgx-h200", "dgx-b200", "gb200-nvl72")
MOST = 256
# A piece of the pipeline may hold the embedding or the output layer instead of a layer.
_ENDS = 2
LENGTHS = (4096, 1 << 22)
WIDTHS = {"bf16": 2.0, "fp8": 1.0}
LLAMA: Mapping[str, Scalar] = {
    "model": "llama-3-405b",
    "machine": "grand-teton",
    "context_parallel": 16,
    "pipeline_parallel": 16,
    "virtual_pipeline": 8,
    "data_parallel": 8,
    "way": "gather",
    "zero_stage": "2",
}
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "Llama 3 405B at 131,072 tokens": LLAMA,
    "8B on one node": {
        "model": "llama-3-8b",
        "tensor_parallel": "1",
        "pipeline_parallel": 1,
        "data_parallel": 8,
        "recompute": "full",
    },
    "One key-value head per query head": {"heads": "all"},
    "A million tokens": {
        "sequence_length": 1 << 20,
        "context_parallel": 64,
        "recompute": "full",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length",
            low=LENGTHS[0],
            high=LENGTHS[1],
            scale="log2",
            whole=True,
            symbol="s",
        ),
    ] = 131_072
    context_parallel: Annotated[
        int,
        Number(label="Context parallel", low=1, high=MOST, scale="log2", whole=True, symbol="N"),
    ] = 8
    way: Annotated[
        str,
        Choice(
            label="Keys and values come",
            options={
                "ring": "around a ring",
                "gather": "by an all-gather",
                "swap": "by all-to-all (Ulysses)",
            },
        ),
    ] = "ring"
    layout: Annotated[
        str,
        Choice(
            label="Cut",
            options={"zigzag": "zig-zag", "contiguous": "contiguous", "striped": "striped"},
            help="Ulysses cuts by heads, so that the cut of the sequence plays no part.",
        ),
    ] = "zigzag"
    num_buffers: Annotated[
        int, Number(label="Buffers of the ring", low=1, high=4, whole=True, symbol="b")
    ] = 2
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "llama-3-70b"
    heads: Annotated[
        str,
        Choice(
            label="Key-value heads",
            options={"model": "as the model", "all": "one per query head", "1": "one"},
        ),
    ] = "model"
    machine: Annotated[
        str, Choice(label="Machine", options={key: NODES[key].name for key in _MACHINES})
    ] = "dgx-h100"
    tensor_parallel: Annotated[
        str, Choice(label="Tensor parallel", options={n: n for n in ("1", "2", "4", "8")})
    ] = "8"
    element: Annotated[
        str,
        Choice(
            label="Keys and values travel in",
            options={"bf16": "bf16", "fp8": "fp8"},
            advanced=True,
        ),
    ] = "bf16"
    pipeline_parallel: Annotated[
        int,
        Number(label="Pipeline stages", low=1, high=16, scale="log2", whole=True, advanced=True),
    ] = 4
    virtual_pipeline: Annotated[
        int,
        Number(label="Pieces per stage", low=1, high=8, scale="log2", whole=True, advanced=True),
    ] = 1
    data_parallel: Annotated[
        int, Number(label="Replicas", low=1, high=256, scale="log2", whole=True, advanced=True)
    ] = 4
    zero_stage: Annotated[
        str,
        Choice(
            label="Sharded",
            options={"1": "optimizer states", "2": "gradients too"},
            help="Over all ranks that hold the same parameters: replicas and context parallel.",
            advanced=True,
        ),
    ] = "1"
    recompute: Annotated[
        str,
        Choice(
            label="Recompute",
            options={"none": "nothing", "selective": "attention", "full": "all"},
            advanced=True,
        ),
    ] = "none"
    own_constants: OwnConstants = ""


def _model(inputs: Inputs) -> Model:
    model = MODELS[inputs.model]
    if inputs.heads == "model":
        return model
    count = model.num_attention_heads if inputs.heads == "all" else 1
    return replace(model, num_key_value_heads=count)


def job_of(inputs: Inputs, ranks: Count = 0, length: Count = 0) -> ContextJob:
    """Return the job, or that with other ranks or another length.

    As many micro-batches as stages, one sequence each, as Megatron-LM runs them. A model with too
    few layers for the pieces has one piece per stage.
    """
    tensor, stages = int(inputs.tensor_parallel), inputs.pipeline_parallel
    model, context = _model(inputs), ranks or inputs.context_parallel
    pieces = inputs.virtual_pipeline
    if stages == 1 or stages * pieces > model.num_layers + _ENDS:
        pieces = 1
    return ContextJob(
        model=model,
        cluster=cluster_of(inputs.machine, inputs.own_constants),
        plan=Plan(
            world_size=tensor * context * stages * inputs.data_parallel,
            tensor_parallel=tensor,
            context_parallel=context,
            pipeline_parallel=stages,
            virtual_pipeline=pieces,
            sequence_parallel=tensor > 1,
            zero_stage=int(inputs.zero_stage),
        ),
        training=Training(
            micro_batch_size=1,
            global_batch_size=stages * inputs.data_parallel,
            sequence_length=length or inputs.sequence_length,
            recompute=cast(Recompute, inputs.recompute),
            schedule="interleaved" if pieces > 1 else "1f1b",
        ),
        element=WIDTHS[inputs.element],
    )


# Comparisons for the context-parallel run: other methods, ranks, lengths and measurements.

RANKS = tuple(1 << power for power in range(1, 9))
LAYOUTS: tuple[Layout, ...] = ("contiguous", "striped", "zigzag")
# Rows and columns of the map double, over all that a reader can set.
ROWS = tuple(1 << power for power in range(MOST.bit_length()))
COLUMNS = tuple(1 << power for power in range(LENGTHS[0].bit_length() - 1, LENGTHS[1].bit_length()))
# Way of getting keys and values, buffers of its ring.
_KEPT_BLOCKS = {
    **{f"b{n}": ("ring", n) for n in (1, 2, 3, 4)},
    "gather": ("gather", 2),
    "swap": ("swap", 2),
}
_POINTS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Time that a key-value exchange method adds to a layer, forward and backward together."""

    waits: Seconds
    merged: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """Largest rank count of a hidden ring by length, on NVLink and on the network."""

    lengths: tuple[Tokens, ...]
    near: tuple[Ratio, ...]
    far: tuple[Ratio, ...]


def added_time(job: ContextJob, method: str, layout: str, num_buffers: Count) -> Added:
    """Return the time that an exchange method adds to a layer."""
    waits, merged = added_attention_time(
        job, cast(ContextMethod, method), cast(Layout, layout), num_buffers
    )
    return Added(waits=sum(waits), merged=sum(merged))


def kv_blocks(job: ContextJob, method: str, num_buffers: Count) -> Count:
    """Return the number of key-value blocks of a layer that a GPU holds."""
    ranks = job.plan.context_parallel
    if ranks == 1:
        return 0
    if method == "ring":
        return num_buffers
    if method == "gather":
        return ranks
    # All tokens of its own heads, of which there is one at least.
    return max(1, round(ranks / job.scores.key_value_heads))


def kv_buffers(job: ContextJob, width: Count, element: Bytes) -> dict[str, Bytes]:
    """Return remote key-value bytes per method; "b3" is a ring of three buffers."""
    tokens = job.scores.queries
    return {
        key: ring_buffer(tokens, width, element, kv_blocks(job, method, blocks))
        for key, (method, blocks) in _KEPT_BLOCKS.items()
    }


def ratios(inputs: Inputs, job: ContextJob) -> tuple[tuple[Ratio, ...], tuple[Ratio, ...]]:
    """Return compute time over send time of a ring step at `RANKS`: cluster and NVLink."""
    inside = [job_of(inputs, ranks).ring.group.nodes == 1 for ranks in RANKS]
    return (
        tuple(
            ring_overlap_ratio(job, n, inside=near) for n, near in zip(RANKS, inside, strict=True)
        ),
        tuple(ring_overlap_ratio(job, n, inside=True) for n in RANKS),
    )


def hidden(inputs: Inputs) -> Hidden:
    """Return the rank limit of overlap over all selectable sequence lengths."""
    low, high = LENGTHS
    lengths = [round(low * (high / low) ** (i / (_POINTS - 1))) for i in range(_POINTS)]
    jobs = [job_of(inputs, length=length) for length in lengths]
    near, far = (
        tuple(most_hidden_ranks(job, inside=inside, limit=MOST) for job in jobs)
        for inside in (True, False)
    )
    return Hidden(lengths=tuple(map(float, lengths)), near=near, far=far)


def exposed(job: ContextJob) -> Share:
    """Return the exposed share of a layer: a zig-zag ring with two buffers."""
    waits = sum(map(sum, added_attention_time(job, "ring")))
    return waits / (waits + layer_time_without_context(job))


def exposed_map(inputs: Inputs) -> tuple[tuple[Share, ...], ...]:
    """Return the exposed share for `ROWS` of ranks and `COLUMNS` of lengths."""
    return tuple(
        tuple(exposed(job_of(inputs, ranks, length)) for length in COLUMNS) for ranks in ROWS
    )


def ring_ratios() -> tuple[tuple[Ratio, ...], ...]:
    """Return the modeled rate of each measured ring in each of `LAYOUTS`."""
    return tuple(tuple(modeled_rate(row, layout) for layout in LAYOUTS) for row in MEASURED_RINGS)


def attention_rates() -> tuple[tuple[FlopRate, ...], ...]:
    """Return the measured and modeled rates of each attention, forward and backward."""
    return tuple(
        (*measured_and_modeled_rates(row, False), *measured_and_modeled_rates(row, True))
        for row in OWN_ATTENTIONS
    )
