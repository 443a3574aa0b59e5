"""Published plans and speeds of the runs that presets are named after."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.catalog.training_reports import REPORTS

SettingValue = str | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRun:
    """One published run.

    Attributes:
        settings: of the run, by the names of a run file's keys, flat; what a source leaves out is
            as in its software.
        figure: what was published: "step_time", "token_rate" (per GPU) or "mfu".
        value: in SI units.
        said: in the source's words and units.
        source: key of the bibliography.
    """

    settings: Mapping[str, SettingValue]
    figure: str
    value: float
    said: str
    source: str


REPORTED: Mapping[str, ReportedRun] = {
    "Megatron, 2021: GPT 1T on 3,072 A100": ReportedRun(
        settings={
            "model": "gpt-1t",
            "sequence_length": 2048,
            "gpu": "A100-SXM-80GB",
            "nic_bandwidth": 25e9,
            "world_size": 3072,
            "tensor_parallel": 8,
            "pipeline_parallel": 64,
            "virtual_pipeline": 1,
            "context_parallel": 1,
            "global_batch_size": 3072,
            "precision": "fp16",
            "recompute": "full",
            "zero_stage": "0",
            "schedule": "1f1b",
            "sequence_parallel": False,
            "flash_attention": False,
            "overlap_gradient_reduce": False,
            "overlap_tensor_parallel": False,
        },
        figure="step_time",
        value=102.63,
        said="163 TFLOP/s on each GPU (table 1)",
        source="narayanan2021",
    ),
    "torchtitan: Llama 3 8B, FSDP on 8 H100": ReportedRun(
        settings={
            "model": "llama-3-8b",
            "gpu": "H100-SXM-500W",
            "world_size": 8,
            "tensor_parallel": 1,
            "pipeline_parallel": 1,
            "virtual_pipeline": 1,
            "context_parallel": 1,
            "micro_batch_size": 2,
            "global_batch_size": 16,
            "recompute": "selective",
            "zero_stage": "3",
            "framework": "fsdp",
            "eager_loss": True,
            "schedule": "1f1b",
            "sequence_parallel": False,
            "overlap_tensor_parallel": False,
        },
        figure="step_time",
        value=2.4575,
        said="6,667 tokens per second per GPU, compiled",
        source="torchtitan",
    ),
    # The page names neither GPUs nor batch: a step of four million tokens on 64 GPUs is taken.
    "OLMo-core: OLMo 2 7B, FSDP on H100": ReportedRun(
        settings={
            "model": "olmo-2-7b",
            "sequence_length": 4096,
            "gpu": "H100-SXM",
            "world_size": 64,
            "tensor_parallel": 1,
            "pipeline_parallel": 1,
            "virtual_pipeline": 1,
            "context_parallel": 1,
            "micro_batch_size": 2,
            "global_batch_size": 1024,
            "zero_stage": "3",
            "framework": "fsdp",
            "schedule": "1f1b",
            "sequence_parallel": False,
            "overlap_tensor_parallel": False,
        },
        figure="token_rate",
        value=10_000.0,
        said="10,000 tokens per second per GPU in BF16, 4,096 tokens (version 1.5.0)",
        source="olmo_core",
    ),
    "Llama 3 405B on 16,384 H100": ReportedRun(
        settings={
            "model": "llama-3-405b",
            "sequence_length": 8192,
            "gpu": "H100-SXM",
            "world_size": 16_384,
            "tensor_parallel": 8,
            "pipeline_parallel": 16,
            "virtual_pipeline": 8,
            "context_parallel": 1,
            "global_batch_size": 2048,
            "zero_stage": "2",
            "schedule": "interleaved",
            "overlap_tensor_parallel": False,
        },
        figure="mfu",
        value=REPORTS["llama-3-405b"].mfu,
        said="400 TFLOP/s on each GPU, MFU 41 % (table 4)",
        source="dubey2024",
    ),
    "DeepSeek-V3 on 2,048 H800": ReportedRun(
        settings={
            "model": "deepseek-v3",
            "sequence_length": 4096,
            "gpu": "H800-SXM",
            "world_size": 2048,
            "tensor_parallel": 1,
            "pipeline_parallel": 16,
            "virtual_pipeline": 1,
            "context_parallel": 1,
            "expert_parallel": 64,
            "global_batch_size": 15_360,
            "precision": "fp8",
            "recompute": "modules",
            "schedule": "dualpipe",
            "sequence_parallel": False,
        },
        figure="token_rate",
        value=REPORTS["deepseek-v3"].token_rate,
        said="14.8T tokens in 2.664M GPU hours",
        source="deepseek2024",
    ),
}
