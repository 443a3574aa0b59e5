"""GPU-hours of the steps of published runs by the step model, without failures.

Written by `python -m tests.validation.whole_runs`; the plans stand in `reported_hours`.
"""

from collections.abc import Mapping

FORECAST_HOURS: Mapping[str, float] = {
    "LLaMA 7B": 67_059,
    "LLaMA 13B": 120_302,
    "LLaMA 33B": 437_135,
    "LLaMA 65B": 839_477,
    "Llama 2 7B": 140_929,
    "Llama 2 13B": 251_028,
    "Llama 2 70B": 1_311_896,
    "Llama 3 8B": 476_662,
    "Llama 3 70B": 3_993_632,
    "Llama 3.1 8B": 476_662,
    "Llama 3.1 70B": 3_993_632,
    "Llama 3.1 405B": 25_040_542,
    "Llama 4 Scout": 3_537_223,
    "Llama 4 Maverick": 1_840_740,
    "Llama 2 34B": 622_747,
    "Llama 3.2 1B": 59_295,
    "Llama 3.2 3B": 135_162,
    "DeepSeek-V3": 2_667_722,
    "DeepSeek-V2": 1_216_164,
    "DeepSeek LLM 67B": 525_932,
    "BLOOM 176B": 862_989,
    "Falcon 180B": 10_872_373,
    "MPT-7B": 63_429,
    "Phi-4": 510_464,
    "Phi-3 mini": 74_795,
    "Phi-3 medium": 236_333,
    "Phi-3.5 MoE": 145_788,
    "GRIN MoE": 119_011,
    "OLMoE 1B-7B": 44_002,
    "GPT-NeoX 20B": 158_453,
    "Falcon 40B": 569_662,
    "StarCoderBase 15.5B": 205_886,
    "BloombergGPT 50B": 304_172,
    "SmolLM3 3B": 163_669,
    "Apertus 70B": 4_441_463,
}
