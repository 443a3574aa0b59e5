"""Memory of each accelerator as its tool and as PyTorch report it, with the evidence.

A board holds less for programs than its label says: firmware and driver keep a part, which the tool
(`nvidia-smi`, `amd-smi`) leaves out, and the driver a further part, which PyTorch's `total_memory`
leaves out too. The latter varies by driver within 0.4 %; `Gpu.memory` is the least figure found.
PyTorch prints it where memory runs out ("GPU 0 has a total capacity of 79.11 GiB"). Read in
November 2026.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import Bytes, MiB


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceMemory:
    """Evidence for the memory of an accelerator.

    Attributes:
        tool: total of `nvidia-smi` or `amd-smi`; 0: none found.
        note: where both figures were found, and what is inferred.
        sources: keys of the bibliography; empty: only logs in public repositories.
    """

    tool: Bytes
    note: str
    sources: tuple[str, ...] = ()


def _seen(tool: float, note: str, *sources: str) -> DeviceMemory:
    return DeviceMemory(tool=tool * MiB, note=note, sources=sources)


_LOGS = "PyTorch's messages in public logs"
_V100 = _seen(32510, f"{_LOGS}: 31.73 and 31.74 GiB", "llava812")
_A100_40 = _seen(40960, f"{_LOGS}: 39.38 to 39.59 GiB", "modal2797")
_A100_80 = _seen(81920, "79.15 GiB; with other drivers up to 79.33", "vllm4408", "modal2797")
_H100 = _seen(
    81559, "79.11 GiB; with other drivers up to 79.33, 79.18 on ours", "vllm27508", "modal2797"
)

DEVICE_MEMORY: Mapping[str, DeviceMemory] = {
    "V100-SXM-32GB": _V100,
    "V100-SXM3-32GB": _seen(32510, "inferred: the memory of the SXM2 board"),
    "A100-SXM-40GB": _A100_40,
    "A100-SXM-80GB": _A100_80,
    "A100-PCIe-80GB": _seen(81920, "nvidia-smi in public logs; PyTorch's as for the SXM board"),
    "A100-PCIe-40GB": _seen(40960, "nvidia-smi in public logs; PyTorch's as for the SXM board"),
    "A800-SXM-80GB": _seen(81920, "nvidia-smi in public logs; PyTorch's as for the A100"),
    "H100-SXM": _H100,
    "H100-PCIe": _seen(81559, "nvidia-smi in public logs; PyTorch's as for the SXM board"),
    "H100-NVL": _seen(95830, "93.00 GiB; with other drivers up to 93.11", "vace56"),
    "H20": _seen(97871, f"{_LOGS}: 95.00 to 95.22 GiB"),
    "GH200-96GB": _seen(97871, "nvidia-smi in public logs; PyTorch's as for the H20"),
    "GH200-144GB": _seen(
        146831, "nvidia-smi in public logs; PyTorch's inferred: as much less as on an H200"
    ),
    "H200-SXM": _seen(143771, f"{_LOGS}: 139.72 to 139.83 GiB; 139.80 on ours"),
    "H800-SXM": _seen(81559, "nvidia-smi in public logs; PyTorch's as for the H100"),
    "B200": _seen(183359, "178.35 GiB", "bekman2025"),
    "GB200": _seen(189471, f"{_LOGS}: 184.31 GiB"),
    "B300": _seen(275040, f"{_LOGS}: 267.69 GiB"),
    "GB300": _seen(284208, "276.50 GiB", "bekman2025"),
    "VR200": _seen(0, "as announced: no figure of a tool or of PyTorch was found"),
    "MI250X": _seen(0, f"{_LOGS}: 63.98 GiB for each of its two halves"),
    "MI300X": _seen(0, f"{_LOGS}: 191.69 to 191.98 GiB"),
    "MI325X": _seen(0, f"{_LOGS}: 255.69 and 255.98 GiB"),
    "MI355X": _seen(0, f"{_LOGS}: 287.98 GiB"),
    "L40S": _seen(46068, f"{_LOGS}: 44.39 to 44.53 GiB", "modal2797"),
    "RTX-4090": _seen(24564, f"{_LOGS}: 23.64 and 23.65 GiB"),
    "RTX-5090": _seen(32607, f"{_LOGS}: 31.36 and 31.37 GiB"),
    "RTX-PRO-6000": _seen(97887, f"{_LOGS}: 94.97 GiB"),
    "L4": _seen(23034, f"{_LOGS}: 22.03 to 22.07 GiB"),
    "A10": _seen(0, "inferred: the memory of the L4, which has as much"),
    "Gaudi3": _seen(0, "as the maker states it: no figure of a tool was found"),
    "TPU-v5p": _seen(0, "as the maker states it: no figure of a tool was found"),
    "TPU-v6e": _seen(0, "as the maker states it: no figure of a tool was found"),
    "TPU7x": _seen(0, "as the maker states it: no figure of a tool was found"),
    "Trainium2": _seen(0, "as the maker states it: no figure of a tool was found"),
    "Trainium3": _seen(0, "as the maker states it: no figure of a tool was found"),
}
