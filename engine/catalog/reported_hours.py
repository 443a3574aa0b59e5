"""Whole training runs and the GPU-hours that their authors give, failures and all."""

from engine.catalog.reported_runs import REPORTED
from engine.catalog.whole_run_record import (
    A100,
    A100_40,
    FSDP,
    PLAIN,
    SPLIT,
    Settings,
    WholeRun,
    batch,
    shape,
    whole_run,
)
from engine.core.units import DAY, HOUR

# Whole runs of Meta, with the GPU-hours of its papers and model cards.

_LLAMA = "this model; five months of development on 2,048 GPUs are apart"
_LLAMA_2 = "all GPU time of pre-training this model"
_LLAMA_3 = "all GPU time of this model; whether longer context and fine-tuning count is not said"
_LLAMA_32 = "all GPU time of this model; another 86,000 made the teachers' outputs it learned from"
# Without a published plan: four million tokens in a step for Llama 1 and 2, eight for Llama 3,
# and the plan that the planner found best in November 2026, a tenth of the memory kept free.
_TP4_PP4: Settings = {
    **SPLIT,
    "tensor_parallel": 4,
    "pipeline_parallel": 4,
    "virtual_pipeline": 20,
}
_LLAMA_3_8B: Settings = {
    **PLAIN,
    "gpu": "H100-SXM",
    "context_parallel": 2,
    **batch("llama-3-8b", 1024, 1024, 8192, 1),
}
_LLAMA_3_70B: Settings = {
    **_TP4_PP4,
    "gpu": "H100-SXM",
    **batch("llama-3-70b", 2048, 1024, 8192, 1),
}


META_RUNS = (
    whole_run(
        "LLaMA 7B",
        1e12,
        82_432,
        "llama2023",
        {**PLAIN, **A100, **batch("llama-7b", 1024, 2048, 2048, 2)},
        _LLAMA,
    ),
    whole_run(
        "LLaMA 13B",
        1e12,
        135_168,
        "llama2023",
        {**FSDP, **A100, **batch("llama-13b", 1024, 2048, 2048, 2)},
        _LLAMA,
    ),
    whole_run(
        "LLaMA 33B",
        1.4e12,
        530_432,
        "llama2023",
        {
            **FSDP,
            **A100,
            "tensor_parallel": 2,
            "sequence_parallel": True,
            **batch("llama-33b", 2048, 2048, 2048, 2),
        },
        _LLAMA,
    ),
    whole_run(
        "LLaMA 65B",
        1.4e12,
        1_022_362,
        "llama2023",
        {**_TP4_PP4, **A100, **batch("llama-65b", 2048, 2048, 2048, 4)},
        _LLAMA,
    ),
    whole_run(
        "Llama 2 7B",
        2e12,
        184_320,
        "touvron2023",
        {**PLAIN, **A100, **batch("llama-2-7b", 1024, 1024, 4096, 1)},
        _LLAMA_2,
    ),
    whole_run(
        "Llama 2 13B",
        2e12,
        368_640,
        "touvron2023",
        {**FSDP, **A100, **batch("llama-2-13b", 1024, 1024, 4096, 1)},
        _LLAMA_2,
    ),
    whole_run(
        "Llama 2 70B",
        2e12,
        1_720_320,
        "touvron2023",
        {**_TP4_PP4, **A100, **batch("llama-2-70b", 2048, 1024, 4096, 1)},
        _LLAMA_2,
    ),
    whole_run("Llama 3 8B", 15e12, 1.3e6, "llama3_card", _LLAMA_3_8B, _LLAMA_3),
    whole_run("Llama 3 70B", 15e12, 6.4e6, "llama3_card", _LLAMA_3_70B, _LLAMA_3),
    whole_run("Llama 3.1 8B", 15e12, 1.46e6, "llama31_card", _LLAMA_3_8B, _LLAMA_3),
    whole_run("Llama 3.1 70B", 15e12, 7.0e6, "llama31_card", _LLAMA_3_70B, _LLAMA_3),
    whole_run(
        "Llama 3.1 405B",
        15.6e12,
        30.84e6,
        "llama31_card",
        REPORTED["Llama 3 405B on 16,384 H100"].settings,
        _LLAMA_3,
        published_plan=True,
    ),
    whole_run(
        "Llama 4 Scout",
        40e12,
        5.0e6,
        "llama4_card",
        {
            **SPLIT,
            "gpu": "H100-SXM",
            "tensor_parallel": 2,
            "pipeline_parallel": 2,
            "virtual_pipeline": 24,
            "expert_parallel": 16,
            "expert_tensor_parallel": 2,
            **batch("llama-4-scout", 4096, 2048, 8192, 1),
        },
        "all GPU time of pre-training",
    ),
    whole_run(
        "Llama 4 Maverick",
        22e12,
        2.38e6,
        "llama4_card",
        {
            **SPLIT,
            "gpu": "H100-SXM",
            "tensor_parallel": 2,
            "pipeline_parallel": 2,
            "virtual_pipeline": 24,
            "expert_parallel": 128,
            **batch("llama-4-maverick", 4096, 2048, 8192, 1),
        },
        "all GPU time of pre-training",
    ),
    whole_run(
        "Llama 2 34B",
        2e12,
        1_038_336,
        "touvron2023",
        {
            **SPLIT,
            **A100,
            "tensor_parallel": 2,
            "virtual_pipeline": 1,
            "schedule": "1f1b",
            "zero_stage": "3",
            **batch("code-llama-34b", 1024, 1024, 4096, 2),
        },
        _LLAMA_2,
    ),
    whole_run(
        "Llama 3.2 1B",
        9e12,
        370_000,
        "llama32_card",
        {**PLAIN, "gpu": "H100-SXM", **batch("llama-3.2-1b", 512, 512, 8192, 1)},
        _LLAMA_32,
    ),
    whole_run(
        "Llama 3.2 3B",
        9e12,
        460_000,
        "llama32_card",
        {**PLAIN, "gpu": "H100-SXM", **batch("llama-3.2-3b", 512, 512, 8192, 1)},
        _LLAMA_32,
    ),
)


# Whole runs of everybody but Meta, with the GPU-hours, or days and GPUs, of their authors.


def _days(gpus: int, days: float) -> float:
    """Return GPU-hours."""
    return gpus * days * DAY / HOUR


_PHI_MOE: Settings = {
    **PLAIN,
    "gpu": "H100-SXM",
    "expert_parallel": 8,
    "zero_stage": "2",
    "framework": "fsdp",
    "shard_group": 16,
    **batch("phi-3.5-moe", 512, 1024, 4096, 2),
}
_PHI = "the card's days and GPUs; the tokens are those of its data"

OTHER_RUNS = (
    whole_run(
        "DeepSeek-V3",
        14.8e12,
        2.664e6,
        "deepseek2024",
        REPORTED["DeepSeek-V3 on 2,048 H800"].settings,
        "pre-training; longer context and post-training took another 124,000",
        published_plan=True,
    ),
    whole_run(
        "DeepSeek-V2",
        8.1e12,
        8.1 * 172_800,
        "deepseek_v2",
        {
            **PLAIN,
            "gpu": "H800-SXM",
            "pipeline_parallel": 16,
            "expert_parallel": 8,
            "schedule": "zb-1p",
            **batch("deepseek-v2", 1024, 9216, 4096, 1),
        },
        "practical training, given for each trillion of tokens",
        published_plan=True,
    ),
    whole_run(
        "DeepSeek LLM 67B",
        2e12,
        2 * 300_600,
        "deepseek_v2",
        {
            **SPLIT,
            "gpu": "H800-SXM",
            "tensor_parallel": 2,
            "pipeline_parallel": 8,
            "virtual_pipeline": 8,
            "context_parallel": 4,
            **batch("deepseek-67b", 1024, 4608, 4096, 3),
        },
        "practical training, given for each trillion of tokens",
    ),
    whole_run(
        "BLOOM 176B",
        366e9,
        1_082_990,
        "scao2022",
        {
            **PLAIN,
            **A100,
            "nics_per_node": 4,
            "nic_bandwidth": 12.5e9,
            "tensor_parallel": 4,
            "pipeline_parallel": 12,
            "recompute": "full",
            "flash_attention": False,
            **batch("bloom-176b", 384, 2048, 2048, 2),
        },
        "the final run, 118 days of 384 GPUs",
        published_plan=True,
    ),
    whole_run(
        "Falcon 180B",
        3.5e12,
        7e6,
        "falcon180b_card",
        {
            **PLAIN,
            **A100_40,
            "tensor_parallel": 8,
            "pipeline_parallel": 8,
            **batch("falcon-180b", 4096, 2048, 2048, 1),
        },
        "about seven million, on up to 4,096 GPUs",
        published_plan=True,
    ),
    whole_run(
        "MPT-7B",
        1e12,
        440 * 9.5 * DAY / HOUR,
        "mpt7b_card",
        {
            **FSDP,
            "gpu": "A100-SXM-40GB",
            "nic_bandwidth": 25e9,
            "shard_group": 88,
            **batch("mpt-7b", 440, 1760, 2048, 2),
        },
        "about 9.5 days of 440 GPUs",
    ),
    whole_run(
        "Phi-4",
        9.8e12,
        1920 * 21 * DAY / HOUR,
        "phi4_card",
        {
            **PLAIN,
            "gpu": "H100-SXM",
            "tensor_parallel": 2,
            "context_parallel": 2,
            "sequence_parallel": True,
            **batch("phi-4", 1920, 5760, 4096, 3),
        },
        "21 days of 1,920 GPUs",
    ),
    whole_run(
        "Phi-3 mini",
        4.9e12,
        _days(512, 10),
        "phi3_mini_card",
        {**PLAIN, "gpu": "H100-SXM", **batch("phi-3-mini", 512, 1024, 4096, 2)},
        f"10 days of 512 GPUs; {_PHI}",
    ),
    whole_run(
        "Phi-3 medium",
        4.8e12,
        _days(512, 42),
        "phi3_medium_card",
        {
            **PLAIN,
            "gpu": "H100-SXM",
            "tensor_parallel": 2,
            "sequence_parallel": True,
            **batch("custom", 512, 1024, 4096, 2),
            **shape(40, 5120, 40, 10, 17_920, 32_064),
        },
        f"42 days of 512 GPUs; {_PHI}",
    ),
    whole_run(
        "Phi-3.5 MoE",
        4.9e12,
        _days(512, 23),
        "phi35_moe_card",
        _PHI_MOE,
        f"23 days of 512 GPUs; {_PHI}",
    ),
    whole_run(
        "GRIN MoE", 4e12, _days(512, 18), "grin_moe_card", _PHI_MOE, f"18 days of 512 GPUs; {_PHI}"
    ),
    whole_run(
        "OLMoE 1B-7B",
        5.133e12,
        _days(256, 10),
        "olmoe2024",
        {**PLAIN, "gpu": "H100-SXM", "expert_parallel": 8, **batch("olmoe-7b", 256, 1024, 4096, 2)},
        "about 10 days of 256 GPUs",
    ),
    whole_run(
        "GPT-NeoX 20B",
        150_000 * 1536 * 2048,
        1830 * 96,
        "black2022",
        {
            **PLAIN,
            **A100_40,
            "tensor_parallel": 2,
            "pipeline_parallel": 4,
            "precision": "fp16",
            "flash_attention": False,
            "recompute": "full",
            **batch("gpt-neox-20b", 96, 1536, 2048, 4),
        },
        "1,830 hours of 96 GPUs; tests before the run are apart",
        published_plan=True,
    ),
    whole_run(
        "Falcon 40B",
        1e12,
        _days(384, 60),
        "falcon40b_card",
        {
            **PLAIN,
            **A100_40,
            "tensor_parallel": 8,
            "pipeline_parallel": 4,
            **batch("falcon-40b", 384, 1152, 2048, 1),
        },
        "two months of 384 GPUs, here 60 days",
        published_plan=True,
    ),
    whole_run(
        "StarCoderBase 15.5B",
        1e12,
        320_256,
        "starcoder2023",
        {
            **PLAIN,
            **A100,
            "tensor_parallel": 4,
            "pipeline_parallel": 4,
            **batch("custom", 512, 512, 8192, 1),
            **shape(40, 6144, 48, 1, 24_576, 49_152, mlp="gelu", tied=True),
        },
        "training alone, 24 days and more of 512 GPUs",
        published_plan=True,
    ),
    whole_run(
        "BloombergGPT 50B",
        569e9,
        _days(512, 53),
        "bloomberg2023",
        {
            **PLAIN,
            **A100_40,
            "zero_stage": "3",
            "framework": "fsdp",
            "recompute": "full",
            **batch("custom", 512, 2048, 2048, 4),
            **shape(70, 7680, 40, 40, 30_720, 131_072, mlp="gelu", tied=True),
        },
        "about 53 days of 512 GPUs; earlier attempts are apart",
        published_plan=True,
    ),
    whole_run(
        "SmolLM3 3B",
        11.2e12,
        _days(384, 24),
        "smollm3",
        {
            **PLAIN,
            "gpu": "H100-SXM",
            "tensor_parallel": 2,
            "sequence_parallel": True,
            "zero_stage": "0",
            **batch("custom", 384, 576, 4096, 3),
            **shape(36, 2048, 16, 4, 11_008, 128_256, tied=True),
        },
        "24 days of 384 GPUs; ablations and a restart after 1T tokens are apart",
        published_plan=True,
    ),
    whole_run(
        "Apertus 70B",
        15e12,
        6e6,
        "apertus2025",
        {
            **SPLIT,
            "gpu": "GH200-96GB",
            "gpus_per_node": 4,
            "nics_per_node": 4,
            "nic_bandwidth": 25e9,
            "tensor_parallel": 2,
            "pipeline_parallel": 8,
            "virtual_pipeline": 10,
            **batch("custom", 4096, 4096, 4096, 1),
            **shape(80, 8192, 64, 8, 43_008, 131_072, mlp="gelu"),
        },
        "about six million, failures and tests of the new machine among them",
    ),
)


WHOLE_RUNS: tuple[WholeRun, ...] = (*META_RUNS, *OTHER_RUNS)
