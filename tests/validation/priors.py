"""What is known of each fitted constant before any run is looked at, and how far it may go."""

from collections.abc import Mapping

# Of a type of GPU: the rates of products in 16 and in 8 bits, of attention forward and backward,
# and the fill of a tile. The three bandwidths stay as measured.
FREE = ("matmul", "matmul_fp8", "attention_forward", "attention_backward", "fill")

# Kernel benchmarks: what products reach when only they run (tables of kernels: cuBLASLt 256 of 312
# TFLOP/s, best shapes 0.80 on H100, 0.78 on B200), less 10 % for sustained power.
PRIOR: Mapping[str, Mapping[str, float]] = {
    "A100": {"matmul": 0.74, "matmul_fp8": 0.74, "fill": 3.5e-6},
    "H100": {"matmul": 0.70, "matmul_fp8": 0.63, "fill": 3.5e-6},
    "B200": {"matmul": 0.50, "matmul_fp8": 0.62, "fill": 1.5e-6},
    "GB200": {"matmul": 0.60, "matmul_fp8": 0.60, "fill": 1.5e-6},
    "B300": {"matmul": 0.60, "matmul_fp8": 0.60, "fill": 1.5e-6},
    "GB300": {"matmul": 0.60, "matmul_fp8": 0.60, "fill": 1.5e-6},
}
ATTENTION = {"attention_forward": 0.60, "attention_backward": 0.48}
# How far a constant may go from there before it costs as much as one percent of error.
SPREAD = {
    "matmul": 0.06,
    "matmul_fp8": 0.06,
    "attention_forward": 0.15,
    "attention_backward": 0.15,
    "fill": 0.3,
}
PULL = 0.006

# What is assumed of the common constants, and how far they may go before it costs as much as a
# tenth of a percent of error. Overlap: about half; an exchange beside another micro-batch three
# quarters. Host: 2 ms of logging and loading. GPUs: a hundredth (run-to-run variation of single
# GPUs), and twice that where all meet in every layer. Taken: 24 of 120 multiprocessors, and as much
# again in bandwidth and power. Launches: 300 kernels of 8 us, two thirds of them where parts of a
# layer are captured. First attention: 25 to 40 % of the peak of an A100 (Dao 2023, abstract), where
# the second reaches 51 % by `ATTENTION`, forward and backward together. fp4: three quarters of what
# fp8 reaches. Busiest rank: between even (1) and the 1.4 that Qwen3 235B implies, whose dropless
# runs reach 237 TFLOP/s where forced balance reaches 295 (Megatron-MoE-ModelZoo, best_practice).
# Biases of experts: in Megatron's experts.py 28 bytes to add those of the second product, 16 to
# clamp the first one's result, and 64 backward, mean of both; nothing in the tables measures them,
# so held loosely. Copies: padding and its removal.
COMMON_PRIOR: Mapping[str, tuple[float, float]] = {
    "hidden": (0.5, 0.5),
    "exchange_hidden": (0.75, 0.3),
    "cover": (0.5, 0.5),
    "exposed_sends": (0.25, 1.0),
    "host": (2e-3, 1.0),
    "deviation": (0.01, 0.5),
    "taken": (0.4, 0.5),
    "fetch_ahead": (0.5, 0.5),
    "expert_launches": (2.4e-3, 0.5),
    "grace_launches": (1.6e-3, 0.5),
    "first_attention": (0.64, 0.2),
    "layer_deviation": (0.02, 0.5),
    "busiest": (1.2, 0.2),
    "matmul_fp4": (0.45, 0.2),
    "expert_biases": (54.0, 1.0),
    "unfused_copy": (8.0, 0.5),
}
COMMON_PULL = 0.001
