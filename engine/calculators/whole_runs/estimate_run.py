"""Estimate a run: step time, memory and what they consist of, for any parallel plan."""

from dataclasses import dataclass
from functools import partial

from engine.basis.text import Text
from engine.basis.told import Views
from engine.estimate import estimate
from engine.form.run import charts, verdicts
from engine.form.run.inputs import LIMITED
from engine.form.run.inputs import Inputs as Inputs
from engine.form.run.repair import run_of
from engine.form.run.result import Estimate
from engine.form.run.views import EQUATIONS as EQUATIONS
from engine.form.run.views import peak, values
from engine.run.file import Run

TITLE = "Estimate a run"
QUESTION = "How long does one training step take, where does the time go, and does it fit?"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The run nearest to the inputs, what had to change for it, and its estimate."""

    run: Run
    changes: tuple[Text, ...]
    found: Estimate


def solve(inputs: Inputs) -> Result:
    """Return the estimate of the run nearest to the inputs."""
    run, changes = run_of(inputs)
    return Result(run=run, changes=changes, found=estimate(run))


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    run, found = result.run, result.found
    numbers = values(run, found)
    return {
        "step_time": numbers.pop("step_time"),
        "possible": verdicts.possible(run, result.changes),
        **numbers,
        "time_parts": partial(charts.time_parts, run, found),
        "fits": verdicts.fit(run, found),
        "peak_memory": peak(run, found),
        "memory_parts": partial(charts.memory_parts, run, found),
    }
