"""What GPUs reach of their datasheet: eight constants per type.

`memory`, `scale_up` and `network` are read off the measured bandwidths (BabelStream, nccl-tests);
the others are fitted by `tests/validation/fit.py` to the published training runs, near the
published kernel benchmarks. A type without runs takes its kernel benchmarks, less what large
products lose under the power limit in training (6 %).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.accelerators import Gpu
from engine.units import MICRO, Seconds, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Achieved:
    """Shares of the datasheet that software reaches on one type of GPU.

    Attributes:
        matmul: of the dense 16-bit peak, in large matrix products (clocks under the power limit).
        matmul_fp8: of the dense fp8 peak, likewise.
        attention_forward: of the dense 16-bit peak, in fused attention with heads of 128, forward.
        attention_backward: likewise, backward.
        fill: time to load the first operands of a tile and to store its result.
        memory: of the bandwidth of the memory, in streaming kernels.
        scale_up: of the line rate of the scale-up links, in collectives of large messages.
        network: of the line rate of the network ports, likewise.
    """

    matmul: Share
    matmul_fp8: Share
    attention_forward: Share
    attention_backward: Share
    fill: Seconds
    memory: Share
    scale_up: Share
    network: Share


def _achieved(
    products: tuple[Share, Share],
    attention: tuple[Share, Share],
    fill: Seconds,
    memory: Share,
    scale_up: Share,
) -> Achieved:
    return Achieved(
        matmul=products[0],
        matmul_fp8=products[1],
        attention_forward=attention[0],
        attention_backward=attention[1],
        fill=fill,
        memory=memory,
        scale_up=scale_up,
        network=0.88,  # 192 of 200 GB/s on DGX A100, 380 of 400 on DGX H100, 42.6 of 50 on EFA v1
    )


_AMPERE = _achieved((0.791, 0.740), (0.622, 0.520), 3.36 * MICRO, 0.835, 0.78)
_HOPPER = _achieved((0.650, 0.644), (0.615, 0.491), 3.63 * MICRO, 0.887, 0.82)
_B200 = _achieved((0.457, 0.638), (0.596, 0.471), 1.49 * MICRO, 0.82, 0.76)
_GB200 = _achieved((0.593, 0.555), (0.592, 0.461), 1.59 * MICRO, 0.82, 0.76)
_B300 = _achieved((0.671, 0.605), (0.593, 0.462), 1.41 * MICRO, 0.82, 0.76)
_GB300 = _achieved((0.608, 0.717), (0.606, 0.495), 1.33 * MICRO, 0.82, 0.76)
_CDNA3 = _achieved((0.48, 0.41), (0.25, 0.20), 4.0 * MICRO, 0.78, 0.70)

ACHIEVED: Mapping[str, Achieved] = {
    "V100 SXM2 32 GB": _achieved((0.70, 0.70), (0.45, 0.35), 4.0 * MICRO, 0.85, 0.81),
    "A100 SXM 40 GB": _AMPERE,
    "A100 SXM 80 GB": _AMPERE,
    "A100 PCIe 80 GB": _AMPERE,
    "H100 SXM": _HOPPER,
    "H100 PCIe": _HOPPER,
    "H200 SXM": _HOPPER,
    "H800 SXM": _HOPPER,
    "B200 SXM": _B200,
    "GB200 NVL72": _GB200,
    "B300 SXM": _B300,
    "GB300 NVL72": _GB300,
    "Instinct MI300X": _CDNA3,
    "Instinct MI325X": _CDNA3,
    "Instinct MI355X": _CDNA3,
}


def achieved(gpu: Gpu) -> Achieved:
    """Return the constants of a GPU; one that is not in the table takes those of the H100."""
    return ACHIEVED.get(gpu.name, _HOPPER)
