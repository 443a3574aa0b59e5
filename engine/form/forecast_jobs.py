"""Jobs of the run forecast: plan, tokens, and published times where they exist."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from engine.catalog.publications import LLAMA_3_405B
from engine.catalog.reported_runs import REPORTED, SettingValue
from engine.core.units import DAY, HOUR, GpuTime, Seconds, Share, Tokens
from engine.form.run.inputs import Inputs as Plan
from engine.form.run.nearest_valid import nearest_run
from engine.formulas.run import utilization
from engine.simulate.job.forecast import forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A training job to forecast.

    Attributes:
        name: as the reader chooses it.
        settings: of its plan, as in `Reported`.
        tokens: that it trains on.
        gpu_time: published; 0 where nothing is.
        wall: published; likewise.
        said: in the source's words.
        source: key of the bibliography.
    """

    name: str
    settings: Mapping[str, SettingValue] = field(default_factory=dict)
    tokens: Tokens
    gpu_time: GpuTime = 0.0
    wall: Seconds = 0.0
    said: str = ""
    source: str = ""

    @property
    def plan(self) -> Plan:
        """The inputs of its run."""
        return Plan(**self.settings)  # type: ignore[arg-type]


_LLAMA_70B: Mapping[str, SettingValue] = {
    "model": "llama-3-70b",
    "world_size": 1024,
    "tensor_parallel": 8,
    "pipeline_parallel": 4,
    "virtual_pipeline": 5,
    "context_parallel": 1,
    "global_batch_size": 1024,
}

JOBS: Mapping[str, Job] = {
    "70b": Job(name="Llama 3 70B on 1,024 H100", settings=_LLAMA_70B, tokens=2e12),
    "7b": Job(
        name="OLMo 2 7B on 64 H100",
        settings=REPORTED["OLMo-core: OLMo 2 7B, FSDP on H100"].settings,
        tokens=1e12,
    ),
    "405b": Job(
        name="Llama 3 405B on 16,384 H100 (published)",
        settings=REPORTED["Llama 3 405B on 16,384 H100"].settings,
        tokens=LLAMA_3_405B.tokens,
        gpu_time=LLAMA_3_405B.gpu_time,
        said="30.84M GPU hours for Llama 3.1 405B",
        source="llama31_card",
    ),
    "deepseek-v3": Job(
        name="DeepSeek-V3 on 2,048 H800 (published)",
        settings=REPORTED["DeepSeek-V3 on 2,048 H800"].settings,
        tokens=14.8e12,
        gpu_time=2.664e6 * HOUR,
        said="2.664M GPU hours of pre-training",
        source="deepseek2024",
    ),
    # Section 5.1: 450 billion tokens at 163 TFLOP/s "in 84 days", extrapolated from steps.
    "gpt-1t": Job(
        name="GPT 1T on 3,072 A100 (published)",
        settings=REPORTED["Megatron, 2021: GPT 1T on 3,072 A100"].settings,
        tokens=450e9,
        wall=84 * DAY,
        said="84 days for 450 billion tokens, extrapolated from steps",
        source="narayanan2021",
    ),
}


@cache
def modeled_utilization() -> Share:
    """Return the MFU of Llama 3 405B's published plan by the step model.

    Of the 16-bit peak, six operations for each of the parameters in the paper's words.
    """
    run, _ = nearest_run(JOBS["405b"].plan)
    rate = forecast(run, JOBS["405b"].tokens, None).rate
    return utilization(LLAMA_3_405B.parameters, rate, run.cluster.gpu.peak["bf16"])


@cache
def modeled_work(key: str) -> GpuTime:
    """Return the GPU-time of a job's steps by the step model, nothing lost."""
    run, _ = nearest_run(JOBS[key].plan)
    return forecast(run, JOBS[key].tokens, None).run.wall * run.plan.world_size
