"""How far off runs are that no fit saw. Written by tests.validation.published."""

# Class -> runs, and the logarithms of predicted over measured between which 85 % of
# them lie, with constants fitted without the source, and without the model, of each.
# Runs of MLPerf Training are in no fit. Few adapters take after the class around.
CLASSES: dict[str, tuple[int, float, float]] = {
    "adapters of dense models": (67, -0.18805, 0.07414),
    "adapters of dense models in fp4": (7, -0.23647, 0.07374),
    "adapters of dense models in fp4 with Megatron": (7, -0.23647, 0.07361),
    "adapters of dense models in fp8": (60, -0.18892, 0.08033),
    "adapters of dense models in fp8 with Megatron": (60, -0.18892, 0.08033),
    "adapters of dense models in fp8 with Megatron on B200": (12, -0.12171, 0.06239),
    "adapters of dense models in fp8 with Megatron on GB200": (10, -0.18087, 0.03734),
    "adapters of dense models in fp8 with Megatron on H100": (9, -0.26197, 0.03051),
    "adapters of dense models in fp8 with Megatron on H200": (10, -0.07295, 0.01854),
    "adapters of dense models in fp8 with Megatron on Instinct": (10, -0.17184, 0.01854),
    "dense models": (646, -0.12286, 0.07745),
    "dense models in 16 bits": (407, -0.11594, 0.05835),
    "dense models in 16 bits with DeepSpeed": (6, -0.15990, 0.06900),
    "dense models in 16 bits with DeepSpeed on A100": (6, -0.15990, 0.06900),
    "dense models in 16 bits with FSDP": (11, -0.09620, 0.05520),
    "dense models in 16 bits with FSDP on H100": (7, -0.13625, 0.01277),
    "dense models in 16 bits with Megatron": (80, -0.04924, 0.07690),
    "dense models in 16 bits with Megatron on A100": (49, -0.03071, 0.09095),
    "dense models in 16 bits with Megatron on B200": (8, -0.15918, 0.05199),
    "dense models in 16 bits with Megatron on H100": (23, -0.01331, 0.07330),
    "dense models in 16 bits with eager DeepSpeed": (118, -0.09360, 0.06433),
    "dense models in 16 bits with eager DeepSpeed on A100": (118, -0.09360, 0.06433),
    "dense models in 16 bits with eager FSDP": (192, -0.13200, 0.04730),
    "dense models in 16 bits with eager FSDP on A100": (138, -0.06446, 0.05370),
    "dense models in 16 bits with eager FSDP on H100": (54, -0.13260, 0.00000),
    "dense models in fp4": (38, -0.09320, 0.07325),
    "dense models in fp4 with Megatron": (38, -0.09320, 0.07325),
    "dense models in fp4 with Megatron on B200": (8, -0.02002, 0.05062),
    "dense models in fp4 with Megatron on GB200": (13, -0.15849, 0.09426),
    "dense models in fp4 with Megatron on GB300": (14, -0.06406, 0.07227),
    "dense models in fp8": (134, -0.10051, 0.13227),
    "dense models in fp8 with FSDP": (14, -0.34783, 0.08178),
    "dense models in fp8 with FSDP on H100": (14, -0.34783, 0.08178),
    "dense models in fp8 with Megatron": (120, -0.07646, 0.13608),
    "dense models in fp8 with Megatron on B200": (7, -0.05700, 0.06294),
    "dense models in fp8 with Megatron on GB200": (26, -0.08650, 0.02710),
    "dense models in fp8 with Megatron on GB300": (24, -0.05186, 0.16180),
    "dense models in fp8 with Megatron on H100": (55, -0.05461, 0.12569),
    "mixtures of experts": (130, -0.23365, 0.12755),
    "mixtures of experts in 16 bits": (32, -0.35923, 0.12564),
    "mixtures of experts in 16 bits with Megatron": (32, -0.35923, 0.12564),
    "mixtures of experts in 16 bits with Megatron on B200": (8, -0.15655, 0.00000),
    "mixtures of experts in 16 bits with Megatron on H100": (12, -0.11499, 0.11780),
    "mixtures of experts in fp8": (98, -0.19792, 0.12897),
    "mixtures of experts in fp8 with Megatron": (98, -0.19792, 0.12897),
    "mixtures of experts in fp8 with Megatron on B200": (14, -0.14865, 0.06469),
    "mixtures of experts in fp8 with Megatron on B300": (12, -0.08872, 0.06428),
    "mixtures of experts in fp8 with Megatron on GB200": (27, -0.19933, 0.09753),
    "mixtures of experts in fp8 with Megatron on GB300": (24, -0.06215, 0.17711),
    "mixtures of experts in fp8 with Megatron on H100": (21, -0.22270, 0.06680),
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
