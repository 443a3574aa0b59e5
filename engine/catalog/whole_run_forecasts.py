"""GPU-hours of the steps of published runs by the step model, without failures.

Written by `python -m tests.validation.whole_runs`; the plans stand in `reported_hours`.
"""

from collections.abc import Mapping

FORECAST_HOURS: Mapping[str, float] = {
    "LLaMA 7B": 66_154,
    "LLaMA 13B": 120_223,
    "LLaMA 33B": 436_876,
    "LLaMA 65B": 839_420,
    "Llama 2 7B": 139_120,
    "Llama 2 13B": 250_870,
    "Llama 2 70B": 1_311_580,
    "Llama 3 8B": 472_647,
    "Llama 3 70B": 3_994_531,
    "Llama 3.1 8B": 472_647,
    "Llama 3.1 70B": 3_994_531,
    "Llama 3.1 405B": 25_025_459,
    "Llama 4 Scout": 3_562_149,
    "Llama 4 Maverick": 1_847_856,
    "DeepSeek-V3": 2_668_373,
    "DeepSeek-V2": 1_215_733,
    "DeepSeek LLM 67B": 525_936,
    "BLOOM 176B": 863_129,
    "Falcon 180B": 10_866_550,
    "MPT-7B": 63_429,
    "Phi-4": 508_069,
}
