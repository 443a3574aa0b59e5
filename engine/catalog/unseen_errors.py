"""How far off runs are that no fit saw. Written by tests.validation.published."""

# Class -> runs, and the logarithms of predicted over measured that 8 % are below and
# 8 % above, with constants fitted without the source and without the model of each.
CLASSES: dict[str, tuple[int, float, float]] = {
    "dense models": (531, -0.097, 0.072),
    "dense models in 16 bits": (407, -0.097, 0.057),
    "dense models in 16 bits with DeepSpeed": (6, -0.161, 0.067),
    "dense models in 16 bits with DeepSpeed on A100": (6, -0.161, 0.067),
    "dense models in 16 bits with FSDP": (11, -0.107, 0.076),
    "dense models in 16 bits with FSDP on H100": (7, -0.143, 0.025),
    "dense models in 16 bits with Megatron": (80, -0.046, 0.071),
    "dense models in 16 bits with Megatron on A100": (49, -0.035, 0.089),
    "dense models in 16 bits with Megatron on B200": (8, -0.278, 0.042),
    "dense models in 16 bits with Megatron on H100": (23, -0.025, 0.067),
    "dense models in 16 bits with eager DeepSpeed": (118, -0.098, 0.060),
    "dense models in 16 bits with eager DeepSpeed on A100": (118, -0.098, 0.060),
    "dense models in 16 bits with eager FSDP": (192, -0.111, 0.043),
    "dense models in 16 bits with eager FSDP on A100": (138, -0.057, 0.049),
    "dense models in 16 bits with eager FSDP on H100": (54, -0.115, 0.025),
    "dense models in fp4": (18, -0.153, 0.074),
    "dense models in fp4 with Megatron": (18, -0.153, 0.074),
    "dense models in fp4 with Megatron on GB200": (9, -0.161, 0.089),
    "dense models in fp4 with Megatron on GB300": (9, -0.112, 0.063),
    "dense models in fp8": (106, -0.088, 0.106),
    "dense models in fp8 with FSDP": (14, -0.352, 0.079),
    "dense models in fp8 with FSDP on H100": (14, -0.352, 0.079),
    "dense models in fp8 with Megatron": (92, -0.060, 0.110),
    "dense models in fp8 with Megatron on GB200": (22, -0.081, 0.048),
    "dense models in fp8 with Megatron on GB300": (21, -0.025, 0.154),
    "dense models in fp8 with Megatron on H100": (45, -0.059, 0.101),
    "mixtures of experts": (122, -0.224, 0.119),
    "mixtures of experts in 16 bits": (32, -0.326, 0.119),
    "mixtures of experts in 16 bits with Megatron": (32, -0.326, 0.119),
    "mixtures of experts in 16 bits with Megatron on B200": (8, -0.538, 0.025),
    "mixtures of experts in 16 bits with Megatron on H100": (12, -0.133, 0.137),
    "mixtures of experts in fp8": (90, -0.167, 0.119),
    "mixtures of experts in fp8 with Megatron": (90, -0.167, 0.119),
    "mixtures of experts in fp8 with Megatron on B200": (14, -0.147, 0.066),
    "mixtures of experts in fp8 with Megatron on B300": (12, -0.096, 0.072),
    "mixtures of experts in fp8 with Megatron on GB200": (23, -0.128, 0.091),
    "mixtures of experts in fp8 with Megatron on GB300": (20, -0.037, 0.156),
    "mixtures of experts in fp8 with Megatron on H100": (21, -0.493, 0.057),
}
# A class has so many runs, or none is made of it.
FEWEST = 6
# The largest number of GPUs, the longest sequence and the most experts of those runs,
# by kind of model, and their types of GPU.
REACH: dict[str, tuple[int, int, int]] = {
    "dense models": (3072, 65536, 0),
    "mixtures of experts": (2048, 8192, 256),
}
FITTED = ("A100", "H100", "GB300", "GB200", "B300", "B200")
