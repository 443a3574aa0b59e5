"""Whole runs of Meta, with the GPU-hours of its papers and model cards."""

from engine.catalog.reported_runs import REPORTED
from engine.catalog.whole_run_record import A100, FSDP, PLAIN, SPLIT, Settings, batch, whole_run

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
