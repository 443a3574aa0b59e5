"""How far off runs are that no fit saw. Written by tests.validation.published."""

# Class -> runs, and the logarithms of predicted over measured between which 85 % of
# them lie, with constants fitted without the source, and without the model, of each.
CLASSES: dict[str, tuple[int, float, float]] = {
    "dense models": (531, -0.11563, 0.07333),
    "dense models in 16 bits": (407, -0.11633, 0.05864),
    "dense models in 16 bits with DeepSpeed": (6, -0.15980, 0.06920),
    "dense models in 16 bits with DeepSpeed on A100": (6, -0.15980, 0.06920),
    "dense models in 16 bits with FSDP": (11, -0.08740, 0.05790),
    "dense models in 16 bits with FSDP on H100": (7, -0.13313, 0.01519),
    "dense models in 16 bits with Megatron": (80, -0.05081, 0.07238),
    "dense models in 16 bits with Megatron on A100": (49, -0.03291, 0.08885),
    "dense models in 16 bits with Megatron on B200": (8, -0.24813, 0.03920),
    "dense models in 16 bits with Megatron on H100": (23, -0.01621, 0.06770),
    "dense models in 16 bits with eager DeepSpeed": (118, -0.09715, 0.06188),
    "dense models in 16 bits with eager DeepSpeed on A100": (118, -0.09715, 0.06188),
    "dense models in 16 bits with eager FSDP": (192, -0.12682, 0.04670),
    "dense models in 16 bits with eager FSDP on A100": (138, -0.06624, 0.05193),
    "dense models in 16 bits with eager FSDP on H100": (54, -0.13330, 0.00000),
    "dense models in fp4": (18, -0.15061, 0.08682),
    "dense models in fp4 with Megatron": (18, -0.15061, 0.08682),
    "dense models in fp4 with Megatron on GB200": (9, -0.15770, 0.09710),
    "dense models in fp4 with Megatron on GB300": (9, -0.06260, 0.06190),
    "dense models in fp8": (106, -0.08775, 0.12473),
    "dense models in fp8 with FSDP": (14, -0.34605, 0.08435),
    "dense models in fp8 with FSDP on H100": (14, -0.34605, 0.08435),
    "dense models in fp8 with Megatron": (92, -0.06374, 0.13693),
    "dense models in fp8 with Megatron on GB200": (22, -0.07989, 0.05002),
    "dense models in fp8 with Megatron on GB300": (21, 0.00000, 0.16210),
    "dense models in fp8 with Megatron on H100": (45, -0.06567, 0.10484),
    "mixtures of experts": (122, -0.23201, 0.12058),
    "mixtures of experts in 16 bits": (32, -0.36063, 0.12307),
    "mixtures of experts in 16 bits with Megatron": (32, -0.36063, 0.12307),
    "mixtures of experts in 16 bits with Megatron on B200": (8, -0.15655, 0.00000),
    "mixtures of experts in 16 bits with Megatron on H100": (12, -0.11399, 0.11570),
    "mixtures of experts in fp8": (90, -0.17403, 0.11975),
    "mixtures of experts in fp8 with Megatron": (90, -0.17403, 0.11975),
    "mixtures of experts in fp8 with Megatron on B200": (14, -0.13981, 0.06480),
    "mixtures of experts in fp8 with Megatron on B300": (12, -0.08991, 0.06189),
    "mixtures of experts in fp8 with Megatron on GB200": (23, -0.11526, 0.09763),
    "mixtures of experts in fp8 with Megatron on GB300": (20, -0.03734, 0.16053),
    "mixtures of experts in fp8 with Megatron on H100": (21, -0.47744, 0.06272),
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
