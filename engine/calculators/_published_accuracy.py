"""How far predictions are from published runs. Written by tests.validation.published."""

# Rows, mean and 90th percentile of the absolute error.
ACCURACY = {
    "dense": (513, 0.0470, 0.0974),
    "mixture": (66, 0.0975, 0.1766),
    "memory": (113, 0.0307, 0.0740),
}
# Fitted without the source, tested on it: rows, mean, 90th percentile, bias.
LEFT_OUT_DATE = "2026-11-21"
LEFT_OUT = (
    ("all", "dense", 513, 0.054, 0.110, -0.002),
    ("all", "mixture", 66, 0.099, 0.184, -0.001),
    ("BLOOM topology sweep 2022", "dense", 88, 0.055, 0.109, -0.015),
    ("NVIDIA DGX Cloud recipes", "dense", 46, 0.029, 0.052, -0.007),
    ("IBM FSDP Llama 2", "dense", 12, 0.040, 0.059, 0.024),
    ("InternEvo 7B scaling", "dense", 30, 0.028, 0.053, 0.020),
    ("Korthikanti 2022, table 5", "dense", 9, 0.042, 0.103, 0.039),
    ("LLM Foundry MPT", "dense", 174, 0.056, 0.122, 0.005),
    ("Megatron-Bridge releases", "dense", 60, 0.057, 0.096, 0.010),
    ("Megatron-Bridge releases", "mixture", 66, 0.099, 0.184, -0.001),
    ("Narayanan 2021, table 1", "dense", 10, 0.073, 0.193, 0.073),
    ("Narayanan 2021, table 2", "dense", 12, 0.035, 0.085, -0.016),
    ("NeMo 24.07", "dense", 9, 0.065, 0.122, -0.040),
    ("SimuMax B200", "dense", 8, 0.125, 0.279, -0.125),
    ("torchtitan", "dense", 31, 0.079, 0.246, -0.063),
    ("Zero bubble, tables 3 to 5", "dense", 24, 0.049, 0.101, 0.037),
)
