"""GPU-hours of the steps of published runs by the step model, without failures.

Written by `python -m tests.validation.whole_runs`; the plans stand in `reported_hours`.
"""

from collections.abc import Mapping

FORECAST_HOURS: Mapping[str, float] = {
    "LLaMA 7B": 58_428,
    "LLaMA 13B": 109_615,
    "LLaMA 33B": 399_753,
    "LLaMA 65B": 830_911,
    "Llama 2 7B": 123_666,
    "Llama 2 13B": 229_653,
    "Llama 2 70B": 1_306_769,
    "Llama 3 8B": 426_993,
    "Llama 3 70B": 3_948_435,
    "Llama 3.1 8B": 426_993,
    "Llama 3.1 70B": 3_948_435,
    "Llama 3.1 405B": 24_973_839,
    "Llama 4 Scout": 3_226_979,
    "Llama 4 Maverick": 1_660_935,
    "DeepSeek-V3": 2_660_245,
    "DeepSeek-V2": 1_215_512,
    "DeepSeek LLM 67B": 523_996,
    "BLOOM 176B": 863_073,
    "Falcon 180B": 10_861_692,
    "MPT-7B": 58_636,
    "Phi-4": 487_077,
}
