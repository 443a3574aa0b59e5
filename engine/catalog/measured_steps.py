"""Whole training steps that were measured for this catalog, on one H100.

Llama 3.2 1B under FSDP2, layers and loss compiled, bf16, nothing recomputed: medians of eight
steps on `OWN_STEPS_DATE`, PyTorch 2.11 and CUDA 13.0. The script and all rows are in
`tests/validation/device/`, and a test compares these with them.
"""

from dataclasses import dataclass

from engine.core.units import Bytes, Count, Seconds, Tokens

OWN_STEPS_DATE = "2026-11-24"
OWN_STEPS_MODEL = "llama-3.2-1b"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredStep:
    """One measured step.

    Attributes:
        micro_batch_size: sequences, in one micro-batch.
        length: of each.
        time: of the step, the update included.
        allocated: at the peak, `torch.cuda.max_memory_allocated()`.
        reserved: by PyTorch's allocator.
        used: of the device, as `nvidia-smi` counts.
    """

    micro_batch_size: Count
    length: Tokens
    time: Seconds
    allocated: Bytes
    reserved: Bytes
    used: Bytes


_STEPS: tuple[tuple[Count, Tokens, Seconds, Bytes, Bytes, Bytes], ...] = (
    (1, 4_096, 0.11867, 22_578_404_352, 28_689_039_360, 29_549_723_648),
    (2, 4_096, 0.16813, 29_718_764_544, 34_907_095_040, 35_767_779_328),
    (4, 4_096, 0.29966, 44_007_873_536, 49_339_695_104, 50_200_379_392),
    (1, 8_192, 0.19545, 29_730_298_880, 34_911_289_344, 35_774_070_784),
)
OWN_STEPS = tuple(
    MeasuredStep(
        micro_batch_size=micro_batch_size,
        length=length,
        time=time,
        allocated=allocated,
        reserved=reserved,
        used=used,
    )
    for micro_batch_size, length, time, allocated, reserved, used in _STEPS
)
