"""Published whole runs: GPU-hours of their steps by the step model, published, source.

Written by `python -m tests.validation.whole_runs`; the plans stand in `reported_hours`, which pages
that need the factor alone do without. The steps are without failures.
"""

from collections.abc import Mapping

FORECAST_HOURS: Mapping[str, tuple[float, float, str]] = {
    "LLaMA 7B": (67_059, 82_432, "llama2023"),
    "LLaMA 13B": (120_302, 135_168, "llama2023"),
    "LLaMA 33B": (437_135, 530_432, "llama2023"),
    "LLaMA 65B": (839_477, 1_022_362, "llama2023"),
    "Llama 2 7B": (140_929, 184_320, "touvron2023"),
    "Llama 2 13B": (251_028, 368_640, "touvron2023"),
    "Llama 2 70B": (1_311_896, 1_720_320, "touvron2023"),
    "Llama 3 8B": (477_508, 1_300_000, "llama3_card"),
    "Llama 3 70B": (3_993_632, 6_400_000, "llama3_card"),
    "Llama 3.1 8B": (477_508, 1_460_000, "llama31_card"),
    "Llama 3.1 70B": (3_993_632, 7_000_000, "llama31_card"),
    "Llama 3.1 405B": (25_040_542, 30_840_000, "llama31_card"),
    "Llama 4 Scout": (3_537_223, 5_000_000, "llama4_card"),
    "Llama 4 Maverick": (1_840_740, 2_380_000, "llama4_card"),
    "Llama 2 34B": (622_747, 1_038_336, "touvron2023"),
    "Llama 3.2 1B": (59_295, 370_000, "llama32_card"),
    "Llama 3.2 3B": (135_162, 460_000, "llama32_card"),
    "DeepSeek-V3": (2_667_722, 2_664_000, "deepseek2024"),
    "DeepSeek-V2": (1_216_164, 1_399_680, "deepseek_v2"),
    "DeepSeek LLM 67B": (528_665, 601_200, "deepseek_v2"),
    "BLOOM 176B": (862_989, 1_082_990, "scao2022"),
    "Falcon 180B": (10_872_373, 7_000_000, "falcon180b_card"),
    "MPT-7B": (63_429, 100_320, "mpt7b_card"),
    "Phi-4": (511_385, 967_680, "phi4_card"),
    "Phi-3 mini": (74_795, 122_880, "phi3_mini_card"),
    "Phi-3 medium": (236_333, 516_096, "phi3_medium_card"),
    "Phi-3.5 MoE": (145_788, 282_624, "phi35_moe_card"),
    "GRIN MoE": (119_011, 221_184, "grin_moe_card"),
    "OLMoE 1B-7B": (44_002, 61_440, "olmoe2024"),
    "GPT-NeoX 20B": (158_453, 175_680, "black2022"),
    "Falcon 40B": (569_662, 552_960, "falcon40b_card"),
    "StarCoderBase 15.5B": (205_886, 320_256, "starcoder2023"),
    "BloombergGPT 50B": (304_172, 651_264, "bloomberg2023"),
    "SmolLM3 3B": (163_669, 221_184, "smollm3"),
    "Apertus 70B": (4_441_463, 6_000_000, "apertus2025"),
}
