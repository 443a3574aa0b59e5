"""Published rates of attention kernels over a ring of 8 GPUs."""

from dataclasses import dataclass

from engine.core.units import Count, Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRing:
    """A row of ring-flash-attention's table: 8,192 tokens on each of 8 GPUs, one causal sequence.

    The attention is that of Llama 3.1 8B. Rates are passes per second.

    Attributes:
        gpu: key of `engine.catalog.accelerators`.
        backward: forward and backward pass, or the forward pass alone.
        even: an eighth of the whole attention on one GPU, as its authors computed it.
        contiguous: the ring, contiguous pieces.
        zigzag: likewise.
        striped: likewise.
    """

    gpu: str
    backward: bool
    even: Ratio
    contiguous: Ratio
    zigzag: Ratio
    striped: Ratio


RANKS: Count = 8
TOKENS: Count = 8192
SOURCE = "ring_flash_attention"


def _row(gpu: str, backward: bool, *rates: Ratio) -> MeasuredRing:
    even, contiguous, zigzag, striped = rates
    return MeasuredRing(
        gpu=gpu,
        backward=backward,
        even=even,
        contiguous=contiguous,
        zigzag=zigzag,
        striped=striped,
    )


MEASURED_RINGS = (
    _row("H800-SXM", False, 73.9, 38.5, 63.0, 55.0),
    _row("H800-SXM", True, 19.3, 10.4, 17.4, 16.0),
    _row("A100-SXM-80GB", False, 46.7, 24.0, 38.2, 32.5),
    _row("A100-SXM-80GB", True, 11.8, 6.2, 10.6, 9.75),
)
