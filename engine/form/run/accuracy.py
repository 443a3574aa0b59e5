"""How far predictions are from published runs. Written by tests.validation.published."""

# Rows, mean and 90th percentile of the absolute error.
ACCURACY = {
    "dense": (531, 0.0455, 0.1002),
    "mixture": (122, 0.0805, 0.1487),
    "memory": (119, 0.0291, 0.0699),
}
# Fitted without the source, tested on it: rows, mean, 90th percentile, bias.
LEFT_OUT = (
    ("all", "dense", 531, 0.053, 0.110, -0.010),
    ("all", "mixture", 122, 0.100, 0.197, -0.023),
    ("Narayanan 2021, table 1", "dense", 10, 0.029, 0.051, 0.005),
    ("Narayanan 2021, table 2", "dense", 12, 0.039, 0.073, -0.019),
    ("Korthikanti 2022, table 5", "dense", 9, 0.046, 0.103, 0.044),
    ("torchtitan", "dense", 31, 0.079, 0.212, -0.024),
    ("BLOOM topology sweep 2022", "dense", 88, 0.052, 0.108, -0.018),
    ("LLM Foundry MPT", "dense", 174, 0.053, 0.118, -0.042),
    ("Megatron-Bridge releases", "mixture", 93, 0.105, 0.233, -0.035),
    ("Megatron-Bridge releases", "dense", 78, 0.069, 0.157, 0.033),
    ("NeMo 24.07", "dense", 9, 0.062, 0.118, -0.048),
    ("Zero bubble, tables 3 to 5", "dense", 24, 0.045, 0.093, 0.035),
    ("InternEvo 7B scaling", "dense", 30, 0.034, 0.060, 0.029),
    ("NVIDIA DGX Cloud recipes", "dense", 46, 0.029, 0.071, 0.019),
    ("SimuMax B200", "dense", 8, 0.107, 0.262, -0.107),
    ("IBM FSDP Llama 2", "dense", 12, 0.038, 0.060, 0.007),
    ("SimuMax B200", "mixture", 6, 0.129, 0.170, -0.129),
    ("NVIDIA DGX Cloud recipes", "mixture", 23, 0.074, 0.121, 0.057),
)
# Fitted without the model, tested on it: rows, mean, 90th percentile.
WITHOUT_MODEL = {
    "dense": (531, 0.048, 0.103),
    "mixture": (122, 0.099, 0.187),
}
