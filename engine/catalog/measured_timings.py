"""Attentions, layers, launches and copies that were timed for this catalog, on one GPU each.

Medians of seven repeats on `OWN_DATE`, PyTorch 2.11 and CUDA 13.0. Scripts and all rows are in
`tests/validation/device/`, and a test compares these with them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from engine.catalog.measured_kernels import OWN_DATE as OWN_DATE
from engine.core.units import MILLI, Bytes, Count, Seconds, Tokens

# The measured time of one layer with and without recomputation: Korthikanti 2022, table 4.

Repeated = Literal["none", "selective", "full"]

SOURCE = "korthikanti2022"
# The published run of the same model and machine: 22B parameters on 8 A100, tensor parallel 8.
RUN = "korth-t5-22B-full"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTimes:
    """One row of the table: heads 64, hidden 6,144, 2,048 tokens, micro-batch 4.

    Attributes:
        name: of the row.
        recompute: what the backward pass repeats.
        sequence_parallel: whether what tensor parallelism replicates is split.
        forward: measured.
        backward: measured, with what is repeated.
    """

    name: str
    recompute: Repeated
    sequence_parallel: bool
    forward: Seconds
    backward: Seconds

    @property
    def total(self) -> Seconds:
        """Both passes."""
        return self.forward + self.backward


def _row(
    name: str, recompute: Repeated, sequence_parallel: bool, forward: float, backward: float
) -> LayerTimes:
    return LayerTimes(
        name=name,
        recompute=recompute,
        sequence_parallel=sequence_parallel,
        forward=forward * MILLI,
        backward=backward * MILLI,
    )


LAYER_TIMES: Mapping[str, LayerTimes] = {
    "none": _row("nothing", "none", False, 7.7, 11.9),
    "none_sp": _row("nothing, sequence parallel", "none", True, 7.2, 11.8),
    "selective": _row("core of the attention", "selective", False, 7.7, 13.2),
    "selective_sp": _row("core, sequence parallel", "selective", True, 7.2, 13.1),
    "full": _row("the whole layer", "full", False, 7.7, 19.5),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedAttention:
    """A causal attention of 32 heads of 128, over 16,384 tokens in sequences of one length.

    Attributes:
        kernel: `flash`: FlashAttention-2 as in PyTorch; `cudnn`.
        length: of a sequence.
        forward: one pass.
        backward: one pass.
    """

    kernel: str
    length: Tokens
    forward: Seconds
    backward: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLayer:
    """Measured memory kept by one layer between forward and backward pass.

    Attributes:
        model: key of `MODELS`.
        length: tokens of its one sequence.
        style: one operator at a time (eager), that with one operator for each norm, or compiled.
        recompute: as in `Training`.
        fused: attention.
        kept: measured.
    """

    model: str
    length: Tokens
    style: str
    recompute: Repeated
    fused: bool
    kept: Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedCopy:
    """Copies between a GPU and its host, to the device and to the host.

    Attributes:
        gpu: key of `ACCELERATORS`.
        size: of one copy.
        pinned: from and to memory that the host keeps in place.
        pageable: from and to ordinary memory.
    """

    gpu: str
    size: Bytes
    pinned: tuple[Seconds, Seconds]
    pageable: tuple[Seconds, Seconds]


ATTENTION_HEADS: Count = 32
ATTENTION_TOKENS: Tokens = 16_384
_ATTENTIONS: tuple[tuple[str, Tokens, Seconds, Seconds], ...] = (
    ("flash", 512, 0.00035684, 0.0015605),
    ("flash", 1_024, 0.00054742, 0.0021347),
    ("flash", 2_048, 0.00095775, 0.0032333),
    ("flash", 4_096, 0.00178, 0.0053906),
    ("flash", 8_192, 0.0033802, 0.0096669),
    ("flash", 16_384, 0.0065727, 0.017852),
    ("cudnn", 512, 0.00020815, 0.00099796),
    ("cudnn", 1_024, 0.00033658, 0.0012081),
    ("cudnn", 2_048, 0.00058109, 0.0018439),
    ("cudnn", 4_096, 0.0010845, 0.0031607),
    ("cudnn", 8_192, 0.0019759, 0.0056968),
    ("cudnn", 16_384, 0.0038888, 0.010911),
)
OWN_ATTENTIONS = tuple(
    TimedAttention(kernel=kernel, length=length, forward=forward, backward=backward)
    for kernel, length, forward, backward in _ATTENTIONS
)

_LAYERS: tuple[tuple[str, Tokens, str, Repeated, bool, Bytes], ...] = (
    ("llama-3-8b", 8_192, "eager", "none", True, 1_645_282_304),
    ("llama-3-8b", 8_192, "one norm", "none", True, 1_376_846_848),
    ("llama-3-8b", 8_192, "eager", "selective", True, 521_143_296),
    ("llama-3-8b", 8_192, "eager", "full", True, 67_108_864),
    ("llama-3-8b", 8_192, "compiled", "none", True, 1_141_965_824),
    ("llama-3-8b", 8_192, "compiled", "selective", True, 454_034_432),
    ("llama-3-8b", 8_192, "compiled", "full", True, 67_108_864),
    ("gpt-3-5b", 2_048, "eager", "none", False, 956_334_080),
    ("gpt-3-5b", 2_048, "eager", "full", False, 16_777_216),
)
OWN_LAYERS = tuple(
    KeptLayer(
        model=model,
        length=length,
        style=style,
        recompute=recompute,
        fused=fused,
        kept=kept,
    )
    for model, length, style, recompute, fused, kept in _LAYERS
)

# Name of what is launched over and over -> seconds each, with the hosts of the H100 and the H200.
OWN_LAUNCHES: dict[str, tuple[Seconds, Seconds]] = {
    "eager": (1.0366e-05, 6.027e-06),
    "graph": (1.005e-06, 8.4576e-07),
    "eager product": (1.7297e-05, 9.3255e-06),
    "graph product": (2.2017e-06, 2.223e-06),
    "graph of one": (4.5658e-06, 2.3036e-06),
    "host alone": (9.9013e-06, 5.7619e-06),
}

_COPIES: tuple[tuple[str, Bytes, tuple[Seconds, Seconds], tuple[Seconds, Seconds]], ...] = (
    ("H100-SXM", 4_096, (1.0106e-05, 7.9474e-06), (7.5456e-06, 1.3604e-05)),
    ("H100-SXM", 1_048_576, (2.2265e-05, 2.118e-05), (9.4599e-05, 0.00012403)),
    ("H100-SXM", 16_777_216, (0.00031319, 0.00037373), (0.0013511, 0.0013608)),
    ("H100-SXM", 1_073_741_824, (0.019683, 0.019503), (0.14595, 0.098802)),
    ("H200-SXM", 4_096, (3.3217e-06, 3.1674e-06), (4.0345e-06, 9.294e-06)),
    ("H200-SXM", 1_048_576, (2.1638e-05, 2.063e-05), (5.2512e-05, 9.2092e-05)),
    ("H200-SXM", 16_777_216, (0.00030493, 0.00030437), (0.0009573, 0.00096046)),
    ("H200-SXM", 1_073_741_824, (0.019345, 0.019383), (0.11359, 0.059132)),
)
OWN_COPIES = tuple(
    TimedCopy(gpu=gpu, size=size, pinned=pinned, pageable=pageable)
    for gpu, size, pinned, pageable in _COPIES
)
