"""How far off runs are that no fit saw. Written by tests.validation.published."""

# Class -> runs, and the logarithms of predicted over measured between which 85 % of
# them lie, with constants fitted without the source, and without the model, of each.
CLASSES: dict[str, tuple[int, float, float]] = {
    "dense models": (531, -0.11335, 0.07390),
    "dense models in 16 bits": (407, -0.11524, 0.05835),
    "dense models in 16 bits with DeepSpeed": (6, -0.15990, 0.06900),
    "dense models in 16 bits with DeepSpeed on A100": (6, -0.15990, 0.06900),
    "dense models in 16 bits with FSDP": (11, -0.09310, 0.05520),
    "dense models in 16 bits with FSDP on H100": (7, -0.13533, 0.01352),
    "dense models in 16 bits with Megatron": (80, -0.04914, 0.07615),
    "dense models in 16 bits with Megatron on A100": (49, -0.03061, 0.09095),
    "dense models in 16 bits with Megatron on B200": (8, -0.24801, 0.03932),
    "dense models in 16 bits with Megatron on H100": (23, -0.01431, 0.07130),
    "dense models in 16 bits with eager DeepSpeed": (118, -0.09359, 0.06433),
    "dense models in 16 bits with eager DeepSpeed on A100": (118, -0.09359, 0.06433),
    "dense models in 16 bits with eager FSDP": (192, -0.13200, 0.04720),
    "dense models in 16 bits with eager FSDP on A100": (138, -0.06446, 0.05331),
    "dense models in 16 bits with eager FSDP on H100": (54, -0.13200, 0.00000),
    "dense models in fp4": (18, -0.13830, 0.08829),
    "dense models in fp4 with Megatron": (18, -0.13830, 0.08829),
    "dense models in fp4 with Megatron on GB200": (9, -0.15820, 0.09500),
    "dense models in fp4 with Megatron on GB300": (9, -0.06370, 0.07210),
    "dense models in fp8": (106, -0.08673, 0.12408),
    "dense models in fp8 with FSDP": (14, -0.34764, 0.08259),
    "dense models in fp8 with FSDP on H100": (14, -0.34764, 0.08259),
    "dense models in fp8 with Megatron": (92, -0.05648, 0.13408),
    "dense models in fp8 with Megatron on GB200": (22, -0.08021, 0.02802),
    "dense models in fp8 with Megatron on GB300": (21, 0.00000, 0.16080),
    "dense models in fp8 with Megatron on H100": (45, -0.05424, 0.10333),
    "mixtures of experts": (122, -0.22266, 0.12308),
    "mixtures of experts in 16 bits": (32, -0.35903, 0.12564),
    "mixtures of experts in 16 bits with Megatron": (32, -0.35903, 0.12564),
    "mixtures of experts in 16 bits with Megatron on B200": (8, -0.15645, 0.00000),
    "mixtures of experts in 16 bits with Megatron on H100": (12, -0.11429, 0.11660),
    "mixtures of experts in fp8": (90, -0.15515, 0.12225),
    "mixtures of experts in fp8 with Megatron": (90, -0.15515, 0.12225),
    "mixtures of experts in fp8 with Megatron on B200": (14, -0.13901, 0.06620),
    "mixtures of experts in fp8 with Megatron on B300": (12, -0.08862, 0.06389),
    "mixtures of experts in fp8 with Megatron on GB200": (23, -0.11376, 0.09753),
    "mixtures of experts in fp8 with Megatron on GB300": (20, -0.03534, 0.16703),
    "mixtures of experts in fp8 with Megatron on H100": (21, -0.22230, 0.06360),
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
