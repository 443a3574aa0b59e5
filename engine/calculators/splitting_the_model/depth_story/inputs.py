"""The GPUs that the reader gives the model, and both ways to use them."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Told
from engine.core.units import Bytes, Count, GpuTime, Share
from engine.form.fields import OwnConstants
from engine.form.run.inputs import Inputs as RunInputs
from engine.form.run.nearest_valid import run_of
from engine.form.sharded.lab import LabModel
from engine.simulate.step.modeled_plan import Modeled, model_of

NODE: Count = 8
MANY = (1, 2, 4, 8, 16, 32, 64)
_UTILIZATION: Share = 0.5
PARTS = {
    "parameters": ("parameters", "parameters"),
    "gradients": ("gradients", "gradients"),
    "optimizer": ("optimizer", "optimizer"),
    "activations": ("activations", "activations"),
    "buffers": ("buffers", "buffers"),
    "reserve": ("workspaces", "muted"),
}
HELD = (
    "One replica; Megatron, bf16, gradients summed in fp32, Adam; one sequence per micro-batch, "
    "1F1B.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    num_gpus: Annotated[
        int, Number(label="GPUs", low=1, high=64, scale="log2", whole=True, symbol="n")
    ] = 32
    model: LabModel = "llama-3-70b"
    sequence_length: Annotated[
        int,
        Number(label="Sequence length", low=512, high=32_768, scale="log2", whole=True),
    ] = 4096
    num_microbatches: Annotated[
        int, Number(label="Micro-batches", low=1, high=256, scale="log2", whole=True, symbol="m")
    ] = 32
    nics_per_node: Annotated[
        str,
        Choice(label="Ports of 400 Gb/s per node", options={n: n for n in ("1", "2", "4", "8")}),
    ] = "8"
    own_constants: OwnConstants = ""


def _told(label: str, note: str, color: str) -> Told:
    return Told(label, "", note, color, HELD, ("narayanan2021", "rajbhandari2020"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The model on one GPU and on several, all in one tensor group or also in stages."""

    alone: Annotated[Bytes, _told("On one GPU it would need", "{usable} can be used", "buffers")]
    usable: Bytes
    wide_memory: Annotated[
        Bytes, _told("Tensor parallel only", "on the fullest of {gpus} GPUs", "tensor")
    ]
    deep_memory: Annotated[
        Bytes, _told("With stages", "{tensor} GPUs per stage, {stages} stages", "pipeline")
    ]
    wide_time: Annotated[
        GpuTime, _told("A million tokens, tensor parallel only", "GPU time", "tensor")
    ]
    deep_time: Annotated[GpuTime, _told("A million tokens, with stages", "GPU time", "pipeline")]
    gpus: Count
    tensor: Count
    stages: Count
    wide: tuple[Modeled, ...]
    deep: tuple[Modeled, ...]
    now: tuple[Modeled, Modeled]


@lru_cache(maxsize=256)
def _plan(inputs: Inputs, tensor: Count, stages: Count) -> Modeled:
    run, _ = run_of(
        RunInputs(
            model=inputs.model,
            nics_per_node=int(inputs.nics_per_node),
            own_constants=inputs.own_constants,
            world_size=tensor * stages,
            tensor_parallel=tensor,
            pipeline_parallel=stages,
            context_parallel=1,
            sequence_parallel=tensor > 1,
            sequence_length=inputs.sequence_length,
            global_batch_size=inputs.num_microbatches,
            overlap_tensor_parallel=False,
            virtual_pipeline=1,
            schedule="1f1b",
        )
    )
    return model_of(run, _UTILIZATION)


def _both(inputs: Inputs, gpus: Count) -> tuple[Modeled, Modeled]:
    """Return the plan with one tensor group of all GPUs, and with one per node."""
    alike = replace(inputs, num_gpus=1)
    heads = MODELS[inputs.model].num_attention_heads
    wide = max(t for t in range(1, gpus + 1) if heads % t == 0)
    tensor = max(t for t in range(1, min(gpus, NODE) + 1) if heads % t == 0)
    return _plan(alike, wide, 1), _plan(alike, tensor, gpus // tensor)


def solve(inputs: Inputs) -> Result:
    """Return both ways of cutting, on the reader's GPUs and on all."""
    wide, deep = _both(inputs, inputs.num_gpus)
    pairs = [_both(inputs, gpus) for gpus in MANY]
    return Result(
        alone=peak(pairs[0][0]),
        usable=wide.usable,
        wide_memory=peak(wide),
        deep_memory=peak(deep),
        wide_time=wide.token_time,
        deep_time=deep.token_time,
        gpus=wide.run.plan.world_size,
        tensor=deep.run.plan.tensor_parallel,
        stages=deep.run.plan.pipeline_parallel,
        wide=tuple(one for one, _ in pairs),
        deep=tuple(two for _, two in pairs),
        now=(wide, deep),
    )


def peak(plan: Modeled) -> Bytes:
    """Return the memory of the fullest GPU."""
    return plan.stages[plan.fullest].memory.total
