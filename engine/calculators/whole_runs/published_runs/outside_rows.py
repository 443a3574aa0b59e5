"""Errors on collectives and on one article. Written by tests.validation.outside."""

# fmt: off
# Curve, operation, GPUs, nodes; mean and worst absolute error of the bus bandwidth from
# 1 MiB on; why, where the mean is above 15 %.
HELD_OUT: tuple[tuple[str, str, int, int, float, float, str], ...] = (
    ("A100, nccl-tests", "all-reduce", 8, 1, 0.033, 0.085, ""),
    ("A100, Azure", "all-reduce", 8, 1, 0.064, 0.327, ""),
    ("H200, PyTorch", "all-reduce", 8, 1, 0.033, 0.200, ""),
    ("H200, Azure", "all-reduce", 8, 1, 0.034, 0.222, ""),
    ("H100, DGX Cloud", "all-reduce", 8, 1, 0.030, 0.086, ""),
    ("4 nodes, PyTorch", "all-reduce", 32, 4, 0.098, 0.399, ""),
)
UNSEEN: tuple[tuple[str, str, int, int, float, float, str], ...] = (
    ("B200, Google", "all-gather", 16, 2, 0.118, 0.474, ""),
    ("B200, Cluster Toolkit", "all-gather", 16, 2, 0.089, 0.368, ""),
    ("B200, spot", "all-gather", 16, 2, 0.085, 0.181, ""),
    ("H200, Google", "all-gather", 16, 2, 0.059, 0.357, ""),
    ("H200, SkyPilot", "all-gather", 16, 2, 0.050, 0.123, ""),
    ("H200, one per node", "all-gather", 2, 2, 0.033, 0.252, ""),
    ("GB300, Google", "all-gather", 8, 2, 0.154, 0.813,
     "the measured time more than doubles from 8 to 16 MiB and then stands still"),
    ("GB300, JobSet", "all-gather", 8, 2, 0.210, 0.881,
     "the measured time more than doubles from 8 to 16 MiB and then stands still"),
    ("GB200, 2 trays", "all-gather", 8, 1, 0.149, 0.433, ""),
    ("GB200, 8 trays", "all-gather", 32, 1, 0.394, 1.386,
     "the constants of NVLink are those of one node of eight"),
    ("B200, Vultr", "all-reduce", 16, 2, 0.264, 0.810,
     "its owner counts half of the ports as below what they should reach"),
    ("B200, Vultr", "all-gather", 16, 2, 0.415, 1.094,
     "its owner counts half of the ports as below what they should reach"),
    ("B200, Vultr", "reduce-scatter", 16, 2, 0.422, 1.110,
     "its owner counts half of the ports as below what they should reach"),
    ("B200, Vultr", "all-to-all", 16, 2, 0.087, 0.331, ""),
    ("B200, Vultr, tuned", "all-to-all", 16, 2, 0.165, 0.571,
     "its owner counts half of the ports as below what they should reach"),
    ("B200, Vultr", "send", 16, 2, 0.009, 0.072, ""),
    ("MI355X", "all-to-all", 16, 2, 0.074, 0.313, ""),
    ("MI355X", "all-reduce", 16, 2, 0.084, 0.122, ""),
    ("RTX 6000D", "all-to-all", 16, 16, 0.169, 0.775,
     "every message takes the port, also inside a node"),
)
# Job, way to split it, fully sharded; share of the peak measured and predicted.
PLANS: tuple[tuple[str, str, bool, float, float], ...] = (
    ("Mixtral 8x22B", "FSDP", True, 0.043, 0.041),
    ("Mixtral 8x22B", "FSDP + EP", True, 0.234, 0.289),
    ("Mixtral 8x22B", "TP + EP + DP", False, 0.366, 0.395),
    ("Mixtral 8x22B", "three dimensions", False, 0.463, 0.482),
    ("Mixtral 8x22B", "folded", False, 0.493, 0.500),
    ("Qwen2 57B-A14B", "FSDP", True, 0.099, 0.120),
    ("Qwen2 57B-A14B", "FSDP + EP", True, 0.254, 0.271),
    ("Qwen2 57B-A14B", "TP + EP + DP", False, 0.231, 0.230),
    ("Qwen2 57B-A14B", "three dimensions", False, 0.353, 0.355),
    ("Qwen2 57B-A14B", "folded", False, 0.390, 0.371),
    ("Mixtral 8x22B G8T8", "FSDP", True, 0.022, 0.024),
    ("Mixtral 8x22B G8T8", "FSDP + EP", True, 0.090, 0.114),
    ("Mixtral 8x22B G8T8", "TP + EP + DP", False, 0.087, 0.083),
    ("Mixtral 8x22B G8T8", "three dimensions", False, 0.171, 0.222),
    ("Mixtral 8x22B G8T8", "folded", False, 0.288, 0.267),
    ("Llama 3 8x70B", "FSDP + EP", True, 0.196, 0.249),
    ("Llama 3 8x70B", "three dimensions", False, 0.388, 0.386),
    ("Llama 3 8x70B", "folded", False, 0.416, 0.402),
)
