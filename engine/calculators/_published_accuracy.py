"""How far predictions are from published runs. Written by tests.validation.published."""

# Rows, mean and 90th percentile of the absolute error.
ACCURACY = {
    "dense": (513, 0.0470, 0.0974),
    "mixture": (66, 0.0982, 0.1766),
    "memory": (113, 0.0307, 0.0740),
}
# Fitted without the source, tested on it: rows, mean, 90th percentile, bias.
LEFT_OUT_DATE = "2026-11-21"
LEFT_OUT = (
    ("all", "dense", 513, 0.055, 0.110, -0.003),
    ("all", "mixture", 66, 0.106, 0.198, -0.023),
    ("BLOOM topology sweep 2022", "dense", 88, 0.055, 0.110, -0.016),
    ("NVIDIA DGX Cloud recipes", "dense", 46, 0.029, 0.052, -0.008),
    ("IBM FSDP Llama 2", "dense", 12, 0.040, 0.059, 0.024),
    ("InternEvo 7B scaling", "dense", 30, 0.029, 0.054, 0.021),
    ("Korthikanti 2022, table 5", "dense", 9, 0.042, 0.103, 0.039),
    ("LLM Foundry MPT", "dense", 174, 0.058, 0.122, 0.003),
    ("Megatron-Bridge releases", "dense", 60, 0.057, 0.097, 0.011),
    ("Megatron-Bridge releases", "mixture", 66, 0.106, 0.198, -0.023),
    ("Narayanan 2021, table 1", "dense", 10, 0.075, 0.195, 0.075),
    ("Narayanan 2021, table 2", "dense", 12, 0.046, 0.101, -0.033),
    ("NeMo 24.07", "dense", 9, 0.066, 0.123, -0.040),
    ("SimuMax B200", "dense", 8, 0.126, 0.280, -0.126),
    ("torchtitan", "dense", 31, 0.079, 0.246, -0.062),
    ("Zero bubble, tables 3 to 5", "dense", 24, 0.049, 0.101, 0.037),
)
