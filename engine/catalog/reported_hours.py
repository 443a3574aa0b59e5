"""Whole training runs and the GPU-hours that their authors give, failures and all."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.catalog.reported_runs import REPORTED, SettingValue
from engine.catalog.whole_run_forecasts import FORECAST_HOURS
from engine.core.units import DAY, HOUR, GpuTime, Ratio, Tokens

_ALL = "all GPU time of training, as its authors count it"


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRun:
    """A published run.

    Attributes:
        name: as its authors name it.
        tokens: that were trained on.
        gpu_time: as published.
        settings: of its plan, by the names of a run file's keys, flat.
        published_plan: whether the source gives the plan; otherwise it is the planner's best.
        includes: what the hours hold.
        source: key of the bibliography.
    """

    name: str
    tokens: Tokens
    gpu_time: GpuTime
    settings: Mapping[str, SettingValue]
    published_plan: bool
    includes: str
    source: str

    @property
    def model(self) -> str:
        """Key of `MODELS`."""
        return str(self.settings["model"])

    @property
    def gpu(self) -> str:
        """Key of `ACCELERATORS`."""
        return str(self.settings["gpu"])

    @property
    def forecast(self) -> GpuTime:
        """GPU time of its steps alone, by the step model (`whole_run_forecasts`)."""
        return FORECAST_HOURS[self.name] * HOUR

    @property
    def factor(self) -> Ratio:
        """Published GPU time over the forecast."""
        return self.gpu_time / self.forecast


_PLAIN: Mapping[str, SettingValue] = {
    "tensor_parallel": 1,
    "pipeline_parallel": 1,
    "virtual_pipeline": 1,
    "context_parallel": 1,
    "schedule": "1f1b",
    "sequence_parallel": False,
    "overlap_tensor_parallel": False,
    "zero_stage": "1",
}
_SPLIT: Mapping[str, SettingValue] = {
    **_PLAIN,
    "schedule": "interleaved",
    "sequence_parallel": True,
}
_A100: Mapping[str, SettingValue] = {"gpu": "A100-SXM-80GB", "nic_bandwidth": 25e9}
_FSDP: Mapping[str, SettingValue] = {
    **_PLAIN,
    "zero_stage": "2",
    "framework": "fsdp",
    "shard_group": 256,
}


def _batch(
    model: str, gpus: int, sequences: int, length: int, micro_batch: int
) -> Mapping[str, SettingValue]:
    return {
        "model": model,
        "world_size": gpus,
        "global_batch_size": sequences,
        "sequence_length": length,
        "micro_batch_size": micro_batch,
    }


def _run(
    name: str,
    tokens: Tokens,
    hours: float,
    source: str,
    settings: Mapping[str, SettingValue],
    *,
    includes: str = _ALL,
    published_plan: bool = False,
) -> WholeRun:
    return WholeRun(
        name=name,
        tokens=tokens,
        gpu_time=hours * HOUR,
        settings=settings,
        published_plan=published_plan,
        includes=includes,
        source=source,
    )


# Without a published plan: four million tokens in a step for Llama 1 and 2, eight for Llama 3,
# and the plan that the planner found best in November 2026, a tenth of the memory kept free.
_TP4_PP4: Mapping[str, SettingValue] = {
    **_SPLIT,
    "tensor_parallel": 4,
    "pipeline_parallel": 4,
    "virtual_pipeline": 20,
}
_LLAMA_3_8B: Mapping[str, SettingValue] = {
    **_PLAIN,
    "gpu": "H100-SXM",
    "context_parallel": 2,
    **_batch("llama-3-8b", 1024, 1024, 8192, 1),
}
_LLAMA_3_70B: Mapping[str, SettingValue] = {
    **_TP4_PP4,
    "gpu": "H100-SXM",
    **_batch("llama-3-70b", 2048, 1024, 8192, 1),
}

WHOLE_RUNS: tuple[WholeRun, ...] = (
    _run(
        "LLaMA 7B",
        1e12,
        82_432,
        "llama2023",
        {**_PLAIN, **_A100, **_batch("llama-7b", 1024, 2048, 2048, 2)},
    ),
    _run(
        "LLaMA 13B",
        1e12,
        135_168,
        "llama2023",
        {**_FSDP, **_A100, **_batch("llama-13b", 1024, 2048, 2048, 2)},
    ),
    _run(
        "LLaMA 33B",
        1.4e12,
        530_432,
        "llama2023",
        {
            **_FSDP,
            **_A100,
            "tensor_parallel": 2,
            "sequence_parallel": True,
            **_batch("llama-33b", 2048, 2048, 2048, 2),
        },
    ),
    _run(
        "LLaMA 65B",
        1.4e12,
        1_022_362,
        "llama2023",
        {**_TP4_PP4, **_A100, **_batch("llama-65b", 2048, 2048, 2048, 4)},
    ),
    _run(
        "Llama 2 7B",
        2e12,
        184_320,
        "touvron2023",
        {**_PLAIN, **_A100, **_batch("llama-2-7b", 1024, 1024, 4096, 1)},
    ),
    _run(
        "Llama 2 13B",
        2e12,
        368_640,
        "touvron2023",
        {**_FSDP, **_A100, **_batch("llama-2-13b", 1024, 1024, 4096, 1)},
    ),
    _run(
        "Llama 2 70B",
        2e12,
        1_720_320,
        "touvron2023",
        {**_TP4_PP4, **_A100, **_batch("llama-2-70b", 2048, 1024, 4096, 1)},
    ),
    _run("Llama 3 8B", 15e12, 1.3e6, "llama3_card", _LLAMA_3_8B),
    _run("Llama 3 70B", 15e12, 6.4e6, "llama3_card", _LLAMA_3_70B),
    _run("Llama 3.1 8B", 15e12, 1.46e6, "llama31_card", _LLAMA_3_8B),
    _run("Llama 3.1 70B", 15e12, 7.0e6, "llama31_card", _LLAMA_3_70B),
    _run(
        "Llama 3.1 405B",
        15.6e12,
        30.84e6,
        "llama31_card",
        REPORTED["Llama 3 405B on 16,384 H100"].settings,
        published_plan=True,
    ),
    _run(
        "Llama 4 Scout",
        40e12,
        5.0e6,
        "llama4_card",
        {
            **_SPLIT,
            "gpu": "H100-SXM",
            "tensor_parallel": 2,
            "pipeline_parallel": 2,
            "virtual_pipeline": 24,
            "expert_parallel": 16,
            "expert_tensor_parallel": 2,
            **_batch("llama-4-scout", 4096, 2048, 8192, 1),
        },
        includes="all GPU time of pre-training",
    ),
    _run(
        "Llama 4 Maverick",
        22e12,
        2.38e6,
        "llama4_card",
        {
            **_SPLIT,
            "gpu": "H100-SXM",
            "tensor_parallel": 2,
            "pipeline_parallel": 2,
            "virtual_pipeline": 24,
            "expert_parallel": 128,
            **_batch("llama-4-maverick", 4096, 2048, 8192, 1),
        },
        includes="all GPU time of pre-training",
    ),
    _run(
        "DeepSeek-V3",
        14.8e12,
        2.664e6,
        "deepseek2024",
        REPORTED["DeepSeek-V3 on 2,048 H800"].settings,
        includes="pre-training; longer context and post-training took another 124,000",
        published_plan=True,
    ),
    _run(
        "DeepSeek-V2",
        8.1e12,
        8.1 * 172_800,
        "deepseek_v2",
        {
            **_PLAIN,
            "gpu": "H800-SXM",
            "pipeline_parallel": 16,
            "expert_parallel": 8,
            "schedule": "zb-1p",
            **_batch("deepseek-v2", 1024, 9216, 4096, 1),
        },
        includes="practical training, given for each trillion of tokens",
        published_plan=True,
    ),
    _run(
        "DeepSeek LLM 67B",
        2e12,
        2 * 300_600,
        "deepseek_v2",
        {
            **_SPLIT,
            "gpu": "H800-SXM",
            "tensor_parallel": 2,
            "pipeline_parallel": 8,
            "virtual_pipeline": 8,
            "context_parallel": 4,
            **_batch("deepseek-67b", 1024, 4608, 4096, 3),
        },
        includes="practical training, given for each trillion of tokens",
    ),
    _run(
        "BLOOM 176B",
        366e9,
        1_082_990,
        "scao2022",
        {
            **_PLAIN,
            **_A100,
            "nics_per_node": 4,
            "nic_bandwidth": 12.5e9,
            "tensor_parallel": 4,
            "pipeline_parallel": 12,
            "recompute": "full",
            "flash_attention": False,
            **_batch("bloom-176b", 384, 2048, 2048, 2),
        },
        includes="the final run, 118 days of 384 GPUs",
        published_plan=True,
    ),
    _run(
        "Falcon 180B",
        3.5e12,
        7e6,
        "falcon180b_card",
        {
            **_PLAIN,
            "gpu": "A100-SXM-40GB",
            "nics_per_node": 4,
            "nic_bandwidth": 12.5e9,
            "tensor_parallel": 8,
            "pipeline_parallel": 8,
            **_batch("falcon-180b", 4096, 2048, 2048, 1),
        },
        includes="about seven million, on up to 4,096 GPUs",
        published_plan=True,
    ),
    _run(
        "MPT-7B",
        1e12,
        440 * 9.5 * DAY / HOUR,
        "mpt7b_card",
        {
            **_FSDP,
            "gpu": "A100-SXM-40GB",
            "nic_bandwidth": 25e9,
            "shard_group": 88,
            **_batch("mpt-7b", 440, 1760, 2048, 2),
        },
        includes="about 9.5 days of 440 GPUs",
    ),
    _run(
        "Phi-4",
        9.8e12,
        1920 * 21 * DAY / HOUR,
        "phi4_card",
        {
            **_PLAIN,
            "gpu": "H100-SXM",
            "tensor_parallel": 2,
            "context_parallel": 2,
            "sequence_parallel": True,
            **_batch("phi-4", 1920, 5760, 4096, 3),
        },
        includes="21 days of 1,920 GPUs",
    ),
)


def factor_quantile(share: float) -> Ratio:
    """Return the factor from plan to reality that so large a share of the runs stays below.

    Straight between the runs, as in a sorted list.
    """
    factors = sorted(run.factor for run in WHOLE_RUNS)
    place = share * (len(factors) - 1)
    low = int(place)
    high = min(low + 1, len(factors) - 1)
    return factors[low] + (place - low) * (factors[high] - factors[low])
