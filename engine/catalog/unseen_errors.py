"""How far off runs are that no fit saw. Written by tests.validation.published."""

# Class -> runs, and the logarithms of predicted over measured that 8 % are below and
# 8 % above, with constants fitted without the source and without the model of each.
CLASSES: dict[str, tuple[int, float, float]] = {
    "dense models": (531, -0.085, 0.103),
    "dense models in 16 bits": (407, -0.082, 0.105),
    "dense models in 16 bits, deepspeed (eager)": (118, -0.099, 0.066),
    "dense models in 16 bits, deepspeed (eager), A100": (118, -0.099, 0.066),
    "dense models in 16 bits, fsdp": (11, -0.125, 0.054),
    "dense models in 16 bits, fsdp (eager)": (192, -0.067, 0.139),
    "dense models in 16 bits, fsdp (eager), A100": (138, -0.058, 0.152),
    "dense models in 16 bits, fsdp (eager), H100": (54, -0.074, 0.109),
    "dense models in 16 bits, megatron": (80, -0.043, 0.102),
    "dense models in 16 bits, megatron, A100": (49, -0.025, 0.109),
    "dense models in 16 bits, megatron, B200": (8, -0.277, 0.070),
    "dense models in 16 bits, megatron, H100": (23, -0.025, 0.063),
    "dense models in fp4": (18, -0.143, 0.083),
    "dense models in fp4, megatron": (18, -0.143, 0.083),
    "dense models in fp4, megatron, GB200": (9, -0.150, 0.096),
    "dense models in fp4, megatron, GB300": (9, -0.115, 0.067),
    "dense models in fp8": (106, -0.076, 0.101),
    "dense models in fp8, fsdp": (14, -0.371, 0.053),
    "dense models in fp8, fsdp, H100": (14, -0.371, 0.053),
    "dense models in fp8, megatron": (92, -0.059, 0.104),
    "dense models in fp8, megatron, GB200": (22, -0.072, 0.058),
    "dense models in fp8, megatron, GB300": (21, -0.025, 0.147),
    "dense models in fp8, megatron, H100": (45, -0.057, 0.096),
    "mixtures of experts": (122, -0.196, 0.176),
    "mixtures of experts in 16 bits": (32, -0.272, 0.091),
    "mixtures of experts in 16 bits, megatron": (32, -0.272, 0.091),
    "mixtures of experts in 16 bits, megatron, B200": (8, -0.523, 0.025),
    "mixtures of experts in 16 bits, megatron, H100": (12, -0.097, 0.025),
    "mixtures of experts in fp8": (90, -0.170, 0.217),
    "mixtures of experts in fp8, megatron": (90, -0.170, 0.217),
    "mixtures of experts in fp8, megatron, B200": (14, -0.126, 0.307),
    "mixtures of experts in fp8, megatron, B300": (12, -0.085, 0.100),
    "mixtures of experts in fp8, megatron, GB200": (23, -0.152, 0.107),
    "mixtures of experts in fp8, megatron, GB300": (20, -0.037, 0.160),
    "mixtures of experts in fp8, megatron, H100": (21, -0.251, 0.290),
}
# The largest number of GPUs, the longest sequence and the most experts of those runs,
# and their types of GPU.
LARGEST = 3072
LONGEST = 65536
MOST_EXPERTS = 256
FITTED = ("A100", "H100", "GB300", "GB200", "B300", "B200")
