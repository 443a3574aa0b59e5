"""Inputs of the context-parallelism lab."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, cast

from engine.catalog.models import MODELS, Model
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number, Scalar
from engine.core.units import Count
from engine.form.fields import OwnConstants
from engine.run.machines import cluster_of
from engine.run.parallelism import Plan, Recompute, Training
from engine.simulate.step.context_job import ContextJob

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
