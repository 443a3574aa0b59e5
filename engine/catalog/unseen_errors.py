"""How far off runs are that no fit saw. Written by tests.validation.published."""

# Class -> runs, and the logarithms of predicted over measured between which 85 % of
# them lie, with constants fitted without the source, and without the model, of each.
CLASSES: dict[str, tuple[int, float, float]] = {
    "dense models": (531, -0.11223, 0.07393),
    "dense models in 16 bits": (407, -0.11217, 0.05760),
    "dense models in 16 bits with DeepSpeed": (6, -0.16140, 0.06670),
    "dense models in 16 bits with DeepSpeed on A100": (6, -0.16140, 0.06670),
    "dense models in 16 bits with FSDP": (11, -0.08980, 0.07740),
    "dense models in 16 bits with FSDP on H100": (7, -0.14513, 0.00554),
    "dense models in 16 bits with Megatron": (80, -0.04959, 0.07159),
    "dense models in 16 bits with Megatron on A100": (49, -0.03334, 0.08795),
    "dense models in 16 bits with Megatron on B200": (8, -0.24840, 0.04011),
    "dense models in 16 bits with Megatron on H100": (23, -0.01726, 0.06709),
    "dense models in 16 bits with eager DeepSpeed": (118, -0.09873, 0.06043),
    "dense models in 16 bits with eager DeepSpeed on A100": (118, -0.09873, 0.06043),
    "dense models in 16 bits with eager FSDP": (192, -0.11261, 0.04697),
    "dense models in 16 bits with eager FSDP on A100": (138, -0.06083, 0.05189),
    "dense models in 16 bits with eager FSDP on H100": (54, -0.11431, 0.00000),
    "dense models in fp4": (18, -0.15193, 0.09078),
    "dense models in fp4 with Megatron": (18, -0.15193, 0.09078),
    "dense models in fp4 with Megatron on GB200": (9, -0.15660, 0.09840),
    "dense models in fp4 with Megatron on GB300": (9, -0.06080, 0.06170),
    "dense models in fp8": (106, -0.08981, 0.12574),
    "dense models in fp8 with FSDP": (14, -0.35287, 0.07908),
    "dense models in fp8 with FSDP on H100": (14, -0.35287, 0.07908),
    "dense models in fp8 with Megatron": (92, -0.06188, 0.12920),
    "dense models in fp8 with Megatron on GB200": (22, -0.07869, 0.04702),
    "dense models in fp8 with Megatron on GB300": (21, 0.00000, 0.15300),
    "dense models in fp8 with Megatron on H100": (45, -0.06407, 0.10149),
    "mixtures of experts": (122, -0.23969, 0.11992),
    "mixtures of experts in 16 bits": (32, -0.36083, 0.12318),
    "mixtures of experts in 16 bits with Megatron": (32, -0.36083, 0.12318),
    "mixtures of experts in 16 bits with Megatron on B200": (8, -0.18595, 0.00000),
    "mixtures of experts in 16 bits with Megatron on H100": (12, -0.11554, 0.11524),
    "mixtures of experts in fp8": (90, -0.17324, 0.11905),
    "mixtures of experts in fp8 with Megatron": (90, -0.17324, 0.11905),
    "mixtures of experts in fp8 with Megatron on B200": (14, -0.14585, 0.06599),
    "mixtures of experts in fp8 with Megatron on B300": (12, -0.09285, 0.06327),
    "mixtures of experts in fp8 with Megatron on GB200": (23, -0.11476, 0.09823),
    "mixtures of experts in fp8 with Megatron on GB300": (20, -0.03744, 0.16073),
    "mixtures of experts in fp8 with Megatron on H100": (21, -0.47674, 0.06662),
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
