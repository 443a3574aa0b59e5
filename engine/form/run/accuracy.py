"""How far predictions are from published runs. Written by tests.validation.published."""

# Rows, mean and 90th percentile of the absolute error.
ACCURACY = {
    "dense": (531, 0.0464, 0.0991),
    "mixture": (122, 0.0894, 0.1606),
    "memory": (119, 0.0292, 0.0699),
}
# Fitted without the source, tested on it: rows, mean, 90th percentile, bias.
LEFT_OUT = (
    ("all", "dense", 531, 0.063, 0.155, 0.018),
    ("all", "mixture", 122, 0.125, 0.227, 0.008),
    ("Narayanan 2021, table 1", "dense", 10, 0.078, 0.198, 0.078),
    ("Narayanan 2021, table 2", "dense", 12, 0.045, 0.099, -0.030),
    ("Korthikanti 2022, table 5", "dense", 9, 0.045, 0.107, 0.042),
    ("torchtitan", "dense", 31, 0.075, 0.237, -0.052),
    ("BLOOM topology sweep 2022", "dense", 88, 0.055, 0.109, -0.015),
    ("LLM Foundry MPT", "dense", 174, 0.081, 0.192, 0.041),
    ("Megatron-Bridge releases", "mixture", 93, 0.133, 0.311, 0.039),
    ("Megatron-Bridge releases", "dense", 78, 0.066, 0.144, 0.038),
    ("NeMo 24.07", "dense", 9, 0.059, 0.106, -0.022),
    ("Zero bubble, tables 3 to 5", "dense", 24, 0.052, 0.104, 0.041),
    ("InternEvo 7B scaling", "dense", 30, 0.031, 0.056, 0.024),
    ("NVIDIA DGX Cloud recipes", "dense", 46, 0.027, 0.066, 0.009),
    ("SimuMax B200", "dense", 8, 0.108, 0.261, -0.100),
    ("IBM FSDP Llama 2", "dense", 12, 0.041, 0.063, 0.028),
    ("SimuMax B200", "mixture", 6, 0.109, 0.128, -0.109),
    ("NVIDIA DGX Cloud recipes", "mixture", 23, 0.095, 0.158, -0.085),
)
# Fitted without the model, tested on it: rows, mean, 90th percentile.
WITHOUT_MODEL = {
    "dense": (531, 0.048, 0.103),
    "mixture": (122, 0.118, 0.229),
}
