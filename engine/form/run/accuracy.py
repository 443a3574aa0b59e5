"""How far predictions are from published runs. Written by tests.validation.published."""

# Rows, mean and 90th percentile of the absolute error.
ACCURACY = {
    "dense": (531, 0.0445, 0.0940),
    "mixture": (122, 0.0825, 0.1596),
    "memory": (119, 0.0291, 0.0699),
}
# Fitted without the source, tested on it: rows, mean, 90th percentile, bias.
LEFT_OUT = (
    ("all", "dense", 531, 0.052, 0.108, -0.010),
    ("all", "mixture", 122, 0.103, 0.196, -0.025),
    ("Narayanan 2021, table 1", "dense", 10, 0.028, 0.051, 0.005),
    ("Narayanan 2021, table 2", "dense", 12, 0.040, 0.077, -0.021),
    ("Korthikanti 2022, table 5", "dense", 9, 0.045, 0.102, 0.043),
    ("torchtitan", "dense", 31, 0.074, 0.218, -0.034),
    ("BLOOM topology sweep 2022", "dense", 88, 0.053, 0.109, -0.020),
    ("LLM Foundry MPT", "dense", 174, 0.051, 0.107, -0.041),
    ("Megatron-Bridge releases", "mixture", 93, 0.109, 0.265, -0.039),
    ("Megatron-Bridge releases", "dense", 78, 0.069, 0.158, 0.032),
    ("NeMo 24.07", "dense", 9, 0.062, 0.117, -0.049),
    ("Zero bubble, tables 3 to 5", "dense", 24, 0.045, 0.092, 0.034),
    ("InternEvo 7B scaling", "dense", 30, 0.033, 0.059, 0.027),
    ("NVIDIA DGX Cloud recipes", "dense", 46, 0.028, 0.070, 0.019),
    ("SimuMax B200", "dense", 8, 0.106, 0.261, -0.106),
    ("IBM FSDP Llama 2", "dense", 12, 0.055, 0.089, 0.054),
    ("SimuMax B200", "mixture", 6, 0.128, 0.170, -0.128),
    ("NVIDIA DGX Cloud recipes", "mixture", 23, 0.073, 0.120, 0.056),
)
# Fitted without the model, tested on it: rows, mean, 90th percentile.
WITHOUT_MODEL = {
    "dense": (531, 0.047, 0.097),
    "mixture": (122, 0.102, 0.187),
}
