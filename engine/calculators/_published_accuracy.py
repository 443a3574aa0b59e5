"""How far predictions are from published runs. Written by tests.validation.published."""

# Rows, mean and 90th percentile of the absolute error.
ACCURACY = {
    "dense": (513, 0.0463, 0.0971),
    "mixture": (66, 0.0988, 0.1847),
    "memory": (113, 0.0307, 0.0740),
}
# Fitted without the source, tested on it: rows, mean, 90th percentile, bias.
LEFT_OUT_DATE = "2026-11-21"
LEFT_OUT = (
    ("all", "dense", 513, 0.062, 0.118, -0.004),
    ("all", "mixture", 66, 0.140, 0.225, 0.025),
    ("BLOOM topology sweep 2022", "dense", 88, 0.063, 0.120, -0.042),
    ("NVIDIA DGX Cloud recipes", "dense", 46, 0.062, 0.128, 0.058),
    ("IBM FSDP Llama 2", "dense", 12, 0.037, 0.044, 0.022),
    ("InternEvo 7B scaling", "dense", 30, 0.045, 0.073, 0.041),
    ("Korthikanti 2022, table 5", "dense", 9, 0.048, 0.116, 0.042),
    ("LLM Foundry MPT", "dense", 174, 0.064, 0.111, -0.018),
    ("Megatron-Bridge releases", "dense", 60, 0.051, 0.095, 0.026),
    ("Megatron-Bridge releases", "mixture", 66, 0.140, 0.225, 0.025),
    ("Narayanan 2021, table 1", "dense", 10, 0.078, 0.198, 0.078),
    ("Narayanan 2021, table 2", "dense", 12, 0.047, 0.107, -0.033),
    ("NeMo 24.07", "dense", 9, 0.069, 0.118, -0.028),
    ("SimuMax B200", "dense", 8, 0.108, 0.264, -0.106),
    ("torchtitan", "dense", 31, 0.098, 0.261, -0.054),
    ("Zero bubble, tables 3 to 5", "dense", 24, 0.051, 0.083, 0.050),
)
