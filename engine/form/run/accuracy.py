"""How far predictions are from published runs. Written by tests.validation.published."""

# Rows, mean and 90th percentile of the absolute error.
ACCURACY = {
    "dense": (531, 0.0446, 0.0989),
    "mixture": (122, 0.0770, 0.1504),
    "memory": (119, 0.0291, 0.0699),
}
# Fitted without the source, tested on it: rows, mean, 90th percentile, bias.
LEFT_OUT = (
    ("all", "dense", 531, 0.052, 0.111, -0.010),
    ("all", "mixture", 122, 0.098, 0.194, -0.020),
    ("Narayanan 2021, table 1", "dense", 10, 0.029, 0.052, 0.007),
    ("Narayanan 2021, table 2", "dense", 12, 0.040, 0.073, -0.018),
    ("Korthikanti 2022, table 5", "dense", 9, 0.047, 0.105, 0.045),
    ("torchtitan", "dense", 31, 0.079, 0.214, -0.026),
    ("BLOOM topology sweep 2022", "dense", 88, 0.052, 0.105, -0.015),
    ("LLM Foundry MPT", "dense", 174, 0.053, 0.118, -0.041),
    ("Megatron-Bridge releases", "mixture", 93, 0.101, 0.206, -0.033),
    ("Megatron-Bridge releases", "dense", 78, 0.070, 0.160, 0.028),
    ("NeMo 24.07", "dense", 9, 0.054, 0.115, -0.042),
    ("Zero bubble, tables 3 to 5", "dense", 24, 0.046, 0.095, 0.037),
    ("InternEvo 7B scaling", "dense", 30, 0.025, 0.049, 0.014),
    ("NVIDIA DGX Cloud recipes", "dense", 46, 0.031, 0.077, 0.024),
    ("SimuMax B200", "dense", 8, 0.082, 0.159, -0.082),
    ("IBM FSDP Llama 2", "dense", 12, 0.037, 0.059, 0.006),
    ("SimuMax B200", "mixture", 6, 0.129, 0.170, -0.129),
    ("NVIDIA DGX Cloud recipes", "mixture", 23, 0.076, 0.123, 0.060),
)
# Fitted without the model, tested on it: rows, mean, 90th percentile.
WITHOUT_MODEL = {
    "dense": (531, 0.047, 0.101),
    "mixture": (122, 0.097, 0.186),
}
