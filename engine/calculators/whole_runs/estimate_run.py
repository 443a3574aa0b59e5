"""Estimate a run: step time, memory and what they consist of, for any parallel plan."""

from engine.basis.views import View
from engine.estimate import estimate
from engine.form.run import charts, verdicts, views
from engine.form.run.inputs import LIMITED, Inputs
from engine.form.run.repair import run_of

__all__ = ["EQUATIONS", "PRESETS", "QUESTION", "TITLE", "Inputs", "compute"]

TITLE = "Estimate a run"
QUESTION = "How long does one training step take, where does the time go, and does it fit?"
EQUATIONS = (views.STEP, views.TOKENS_PER_SECOND, views.MFU, views.HFU, views.PEAK)
PRESETS = {
    "Megatron, 2021: GPT 1T on 3,072 A100": {
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
    "torchtitan: Llama 3 8B, FSDP on 8 H100": {
        "model": "llama-3-8b",
        "gpu": LIMITED,
        "world_size": 8,
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "virtual_pipeline": 1,
        "context_parallel": 1,
        "global_batch_size": 8,
        "recompute": "selective",
        "zero_stage": "3",
        "framework": "fsdp",
        "schedule": "1f1b",
        "sequence_parallel": False,
        "overlap_tensor_parallel": False,
    },
    "DeepSeek-V3 on 2,048 H800": {
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
        "schedule": "dualpipe",
        "sequence_parallel": False,
    },
}


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    run, changes = run_of(inputs)
    found = estimate(run)
    return {
        "step_time": views.step_value(run, found),
        "possible": verdicts.possible(run, changes),
        "token_rate": views.token_rate(run, found),
        "mfu": views.utilization(run, found, "mfu"),
        "hfu": views.utilization(run, found, "hfu"),
        "flops_rate": views.flops_rate(run, found),
        "parameters": views.parameters(found),
        "time_parts": charts.time_parts(run, found),
        "fits": verdicts.fit(run, found),
        "peak_memory": views.peak(run, found),
        "memory_parts": charts.memory_parts(run, found),
    }
