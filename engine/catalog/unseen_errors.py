"""How far off runs are that no fit saw. Written by tests.validation.published."""

# Class -> runs, and the logarithms of predicted over measured between which 85 % of
# them lie, with constants fitted without the source, and without the model, of each.
# Runs of MLPerf Training are in no fit. Few adapters take after the class around.
CLASSES: dict[str, tuple[int, float, float]] = {
    "adapters of dense models": (67, -0.17792, 0.08122),
    "adapters of dense models in fp4": (7, -0.17399, 0.09943),
    "adapters of dense models in fp4 with Megatron": (7, -0.17281, 0.09943),
    "adapters of dense models in fp8": (60, -0.18892, 0.08128),
    "adapters of dense models in fp8 with Megatron": (60, -0.18892, 0.08128),
    "adapters of dense models in fp8 with Megatron on B200": (12, -0.12171, 0.06258),
    "adapters of dense models in fp8 with Megatron on GB200": (10, -0.18087, 0.03756),
    "adapters of dense models in fp8 with Megatron on H100": (9, -0.23830, 0.04011),
    "adapters of dense models in fp8 with Megatron on H200": (10, -0.07412, 0.02004),
    "adapters of dense models in fp8 with Megatron on Instinct": (10, -0.09210, 0.01876),
    "dense models": (634, -0.11694, 0.07800),
    "dense models in 16 bits": (407, -0.11594, 0.05807),
    "dense models in 16 bits with DeepSpeed": (6, -0.15990, 0.06900),
    "dense models in 16 bits with DeepSpeed on A100": (6, -0.15990, 0.06900),
    "dense models in 16 bits with FSDP": (11, -0.09600, 0.05510),
    "dense models in 16 bits with FSDP on H100": (7, -0.13613, 0.01259),
    "dense models in 16 bits with Megatron": (80, -0.04943, 0.07634),
    "dense models in 16 bits with Megatron on A100": (49, -0.03101, 0.09035),
    "dense models in 16 bits with Megatron on B200": (8, -0.15928, 0.05199),
    "dense models in 16 bits with Megatron on H100": (23, -0.01341, 0.07320),
    "dense models in 16 bits with eager DeepSpeed": (118, -0.09429, 0.06248),
    "dense models in 16 bits with eager DeepSpeed on A100": (118, -0.09429, 0.06248),
    "dense models in 16 bits with eager FSDP": (192, -0.13210, 0.04720),
    "dense models in 16 bits with eager FSDP on A100": (138, -0.06456, 0.05370),
    "dense models in 16 bits with eager FSDP on H100": (54, -0.13250, 0.00000),
    "dense models in fp4": (34, -0.09322, 0.07368),
    "dense models in fp4 with Megatron": (34, -0.09322, 0.07368),
    "dense models in fp4 with Megatron on B200": (6, 0.00000, 0.05054),
    "dense models in fp4 with Megatron on GB200": (12, -0.15833, 0.09420),
    "dense models in fp4 with Megatron on GB300": (13, -0.06382, 0.07215),
    "dense models in fp8": (126, -0.08416, 0.12500),
    "dense models in fp8 with FSDP": (14, -0.34817, 0.08198),
    "dense models in fp8 with FSDP on H100": (14, -0.34817, 0.08198),
    "dense models in fp8 with Megatron": (112, -0.06040, 0.12867),
    "dense models in fp8 with Megatron on B200": (7, -0.05700, 0.06294),
    "dense models in fp8 with Megatron on GB200": (24, -0.08090, 0.02710),
    "dense models in fp8 with Megatron on GB300": (21, 0.00000, 0.16100),
    "dense models in fp8 with Megatron on H100": (52, -0.05463, 0.10806),
    "mixtures of experts": (122, -0.22308, 0.12308),
    "mixtures of experts in 16 bits": (32, -0.35933, 0.12564),
    "mixtures of experts in 16 bits with Megatron": (32, -0.35933, 0.12564),
    "mixtures of experts in 16 bits with Megatron on B200": (8, -0.15655, 0.00000),
    "mixtures of experts in 16 bits with Megatron on H100": (12, -0.11499, 0.11760),
    "mixtures of experts in fp8": (90, -0.15591, 0.12215),
    "mixtures of experts in fp8 with Megatron": (90, -0.15591, 0.12215),
    "mixtures of experts in fp8 with Megatron on B200": (14, -0.14865, 0.06469),
    "mixtures of experts in fp8 with Megatron on B300": (12, -0.08872, 0.06428),
    "mixtures of experts in fp8 with Megatron on GB200": (23, -0.11376, 0.09753),
    "mixtures of experts in fp8 with Megatron on GB300": (20, -0.03534, 0.16703),
    "mixtures of experts in fp8 with Megatron on H100": (21, -0.22270, 0.06690),
}
# A class has so many runs, or none is made of it.
FEWEST = 6
# The most GPUs, the longest sequence, the most experts and the shortest layer at the
# peak of the GPU, of the runs of the fit, by kind of model, and their types of GPU.
REACH: dict[str, tuple[int, int, int, float]] = {
    "dense models": (3072, 65536, 0, 0.001287),
    "mixtures of experts": (2048, 8192, 256, 0.000346),
}
FITTED = ("A100", "H100", "GB300", "GB200", "B300", "B200")
