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
    "dense models": (634, -0.11464, 0.08056),
    "dense models in 16 bits": (407, -0.11133, 0.06162),
    "dense models in 16 bits with DeepSpeed": (6, -0.15990, 0.06900),
    "dense models in 16 bits with DeepSpeed on A100": (6, -0.15990, 0.06900),
    "dense models in 16 bits with FSDP": (11, -0.09530, 0.05490),
    "dense models in 16 bits with FSDP on H100": (7, -0.13581, 0.01283),
    "dense models in 16 bits with Megatron": (80, -0.05055, 0.07566),
    "dense models in 16 bits with Megatron on A100": (49, -0.03240, 0.08965),
    "dense models in 16 bits with Megatron on B200": (8, -0.15938, 0.05179),
    "dense models in 16 bits with Megatron on H100": (23, -0.01361, 0.07300),
    "dense models in 16 bits with eager DeepSpeed": (118, -0.06837, 0.07772),
    "dense models in 16 bits with eager DeepSpeed on A100": (118, -0.06837, 0.07772),
    "dense models in 16 bits with eager FSDP": (192, -0.13180, 0.04730),
    "dense models in 16 bits with eager FSDP on A100": (138, -0.06524, 0.05380),
    "dense models in 16 bits with eager FSDP on H100": (54, -0.13180, 0.00000),
    "dense models in fp4": (34, -0.09341, 0.07368),
    "dense models in fp4 with Megatron": (34, -0.09341, 0.07368),
    "dense models in fp4 with Megatron on B200": (6, 0.00000, 0.05054),
    "dense models in fp4 with Megatron on GB200": (12, -0.15853, 0.09400),
    "dense models in fp4 with Megatron on GB300": (13, -0.06402, 0.07195),
    "dense models in fp8": (126, -0.08422, 0.12489),
    "dense models in fp8 with FSDP": (14, -0.34784, 0.08210),
    "dense models in fp8 with FSDP on H100": (14, -0.34784, 0.08210),
    "dense models in fp8 with Megatron": (112, -0.06054, 0.12912),
    "dense models in fp8 with Megatron on B200": (7, -0.05710, 0.06294),
    "dense models in fp8 with Megatron on GB200": (24, -0.08090, 0.02700),
    "dense models in fp8 with Megatron on GB300": (21, 0.00000, 0.16190),
    "dense models in fp8 with Megatron on H100": (52, -0.05453, 0.10806),
    "mixtures of experts": (122, -0.22337, 0.12278),
    "mixtures of experts in 16 bits": (32, -0.35953, 0.12534),
    "mixtures of experts in 16 bits with Megatron": (32, -0.35953, 0.12534),
    "mixtures of experts in 16 bits with Megatron on B200": (8, -0.15675, 0.00000),
    "mixtures of experts in 16 bits with Megatron on H100": (12, -0.11509, 0.11730),
    "mixtures of experts in fp8": (90, -0.15601, 0.12185),
    "mixtures of experts in fp8 with Megatron": (90, -0.15601, 0.12185),
    "mixtures of experts in fp8 with Megatron on B200": (14, -0.08636, 0.06460),
    "mixtures of experts in fp8 with Megatron on B300": (12, -0.08902, 0.06428),
    "mixtures of experts in fp8 with Megatron on GB200": (23, -0.11386, 0.09733),
    "mixtures of experts in fp8 with Megatron on GB300": (20, -0.03544, 0.16673),
    "mixtures of experts in fp8 with Megatron on H100": (21, -0.22300, 0.06700),
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
