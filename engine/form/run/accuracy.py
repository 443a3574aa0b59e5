"""How far predictions are from published runs. Written by tests.validation.published."""

# Rows, mean and 90th percentile of the absolute error.
ACCURACY = {
    "dense": (513, 0.0468, 0.0972),
    "mixture": (66, 0.0796, 0.1484),
    "memory": (113, 0.0306, 0.0699),
}
# Fitted without the source, tested on it: rows, mean, 90th percentile, bias.
LEFT_OUT_DATE = "2026-11-21"
LEFT_OUT = (
    ("all", "dense", 513, 0.062, 0.146, 0.013),
    ("all", "mixture", 66, 0.084, 0.153, -0.001),
    ("BLOOM topology sweep 2022", "dense", 88, 0.055, 0.107, -0.012),
    ("NVIDIA DGX Cloud recipes", "dense", 46, 0.029, 0.068, 0.008),
    ("IBM FSDP Llama 2", "dense", 12, 0.041, 0.064, 0.029),
    ("InternEvo 7B scaling", "dense", 30, 0.031, 0.056, 0.023),
    ("Korthikanti 2022, table 5", "dense", 9, 0.045, 0.107, 0.043),
    ("LLM Foundry MPT", "dense", 174, 0.082, 0.192, 0.040),
    ("Megatron-Bridge releases", "dense", 60, 0.056, 0.101, 0.012),
    ("Megatron-Bridge releases", "mixture", 66, 0.084, 0.153, -0.001),
    ("Narayanan 2021, table 1", "dense", 10, 0.078, 0.197, 0.078),
    ("Narayanan 2021, table 2", "dense", 12, 0.046, 0.099, -0.029),
    ("NeMo 24.07", "dense", 9, 0.061, 0.111, -0.036),
    ("SimuMax B200", "dense", 8, 0.125, 0.279, -0.125),
    ("torchtitan", "dense", 31, 0.077, 0.242, -0.057),
    ("Zero bubble, tables 3 to 5", "dense", 24, 0.052, 0.105, 0.041),
)
# GPUs of the largest run of the fit, and the types of GPU that runs were fitted on.
LARGEST = 3072
FITTED = ("A100", "H100", "GB300", "GB200", "B300", "B200")
