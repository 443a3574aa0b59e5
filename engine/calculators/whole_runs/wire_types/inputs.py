"""The inputs of the ledger of wire types: a job, and a tick for each class of tensors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import Scalar, Switch
from engine.form import short_job
from engine.form.fields import OwnConstants

TICKS = ("gathered", "hidden", "summed", "keys", "dispatched", "combined", "stages", "reduced")
_EVERYTHING = dict.fromkeys(TICKS, True)
_DEEPSEEK: Mapping[str, Scalar] = {
    "model": "deepseek-v3",
    "gpu": "H800-SXM",
    "world_size": 2048,
    "tensor_parallel": 1,
    "pipeline_parallel": 16,
    "context_parallel": 1,
    "expert_parallel": 64,
    "micro_batch_size": 1,
    "global_batch_size": 15360,
    "sequence_length": 4096,
    "precision": "fp8",
    "recompute": "full",
}
_FSDP: Mapping[str, Scalar] = {
    "model": "llama-3-8b",
    "world_size": 64,
    "tensor_parallel": 1,
    "pipeline_parallel": 1,
    "context_parallel": 1,
    "zero_stage": "3",
    "global_batch_size": 64,
    "framework": "fsdp",
    "recompute": "selective",
    "precision": "fp8",
}
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "FP8 as Transformer Engine does it": {"precision": "fp8", "hidden": True},
    "FSDP that gathers FP8": {**_FSDP, "gathered": True},
    "Tokens to experts in FP8, as DeepSeek-V3": {**_DEEPSEEK, "dispatched": True},
    "Everything in FP8": dict(_EVERYTHING),
}


def _tick(label: str, help_text: str) -> Switch:
    return Switch(label=label, help=help_text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    gathered: Annotated[bool, _tick("Parameters, gathered", "Weights of linear layers.")] = False
    hidden: Annotated[bool, _tick("Hidden states, gathered", "Tensor parallelism.")] = False
    summed: Annotated[bool, _tick("Hidden states, summed", "Tensor parallelism.")] = False
    keys: Annotated[bool, _tick("Keys and values", "Context parallelism.")] = False
    dispatched: Annotated[bool, _tick("Tokens to their experts", "Expert parallelism.")] = False
    combined: Annotated[bool, _tick("Results of experts", "Added up by the receiver.")] = False
    stages: Annotated[bool, _tick("Hidden states between stages", "Pipeline.")] = False
    reduced: Annotated[bool, _tick("Gradients, summed", "Data parallelism.")] = False
    model: short_job.ModelName = "llama-3-70b"
    gpu: short_job.GpuName = "H100-SXM"
    world_size: short_job.WorldSize = 64
    tensor_parallel: short_job.TensorParallel = 4
    pipeline_parallel: short_job.PipelineParallel = 4
    context_parallel: short_job.ContextParallel = 2
    expert_parallel: short_job.ExpertParallel = 1
    zero_stage: short_job.ZeroStage = "1"
    micro_batch_size: short_job.MicroBatch = 1
    global_batch_size: short_job.GlobalBatch = 128
    sequence_length: short_job.SequenceLength = 8192
    precision: short_job.PrecisionName = "bf16"
    recompute: short_job.RecomputeName = "selective"
    framework: short_job.FrameworkName = "megatron"
    own_constants: OwnConstants = ""
