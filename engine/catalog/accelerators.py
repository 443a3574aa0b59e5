"""The accelerators, by the names a run file uses: figures of the makers' datasheets.

Every bandwidth is one way: a maker's "900 GB/s" of NVLink counts both directions and stands here
as 450 GB/s. Peaks are dense (no structured sparsity). `date` is the month in which a figure was
last compared with a second source. What was measured on them stands elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.core.units import GB, TB, TERA, Bandwidth, Bytes, Count, FlopRate, GiB, Power


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One accelerator.

    Attributes:
        name: as its maker writes it.
        memory: what programs can allocate, `torch.cuda.get_device_properties(0).total_memory`;
            less than on the label. Evidence: `engine.catalog.device_memory`.
        memory_bandwidth: reads and writes together, of that memory.
        peak: dense peak of the matrix units by data type ("bf16", "fp16", "fp8", "fp4").
        sms: streaming multiprocessors (compute units for AMD); of a chip for XLA, which has a few
            large matrix units, as many as an H100 has, since products are priced in tiles of GPUs.
        scale_up: one way, to the other GPUs of the node together; 0 where there is only PCIe.
        source: key of the bibliography.
        date: year and month of the last check.
        pcie: one way, to the host.
        host_link: what leads there: PCIe, or NVLink-C2C of a superchip.
        power: the limit its maker sets, of the whole board.
        switch_adds: the scale-up switch can add (NVLink SHARP).
        xla: programs for it are compiled by XLA; neither Megatron nor PyTorch FSDP runs on it.
    """

    name: str
    memory: Bytes
    memory_bandwidth: Bandwidth
    peak: Mapping[str, FlopRate]
    sms: Count
    scale_up: Bandwidth
    source: str
    date: str
    pcie: Bandwidth = 0.0
    host_link: str = "PCIe"
    power: Power = 0.0
    switch_adds: bool = False
    xla: bool = False

    def __post_init__(self) -> None:
        """Reject an incomplete row with an error that names it."""
        if self.pcie <= 0:
            raise ValueError(f"GPU '{self.name}' has no pcie; allowed: a bandwidth above 0")
        if self.peak.get("fp16", 0.0) <= 0:
            raise ValueError(f"GPU '{self.name}' has no peak for fp16; allowed: a rate above 0")

    def computes_in(self, precision: str) -> str:
        """Return the data type of products in this precision: the same, or a wider one."""
        if precision in self.peak:
            return precision
        return "fp8" if precision == "fp4" and "fp8" in self.peak else "fp16"


# Boards of several rows have the same memory.
_A100_40, _A100_80, _H100 = 39.38 * GiB, 79.15 * GiB, 79.11 * GiB
_PCIE3, _PCIE4, _PCIE5 = 15.75 * GB, 31.5 * GB, 63 * GB
# 16 lanes of 64 Gbit/s; of the 256 bytes of a flit 236 carry packets.
_PCIE6 = 128 * GB * 236 / 256
# NVLink-C2C: 900 GB/s both ways between a Grace and its two GPUs, so half of 450 one way for each.
_C2C = 225 * GB


_TILED: Count = 132


def _volta(name: str, power: Power) -> Gpu:
    return Gpu(
        name=name,
        memory=31.73 * GiB,
        memory_bandwidth=900 * GB,
        peak={"fp16": 125 * TERA},
        sms=80,
        scale_up=150 * GB,
        source="nvidia_v100",
        date="2026-11",
        pcie=_PCIE3,
        power=power,
    )


def _ampere(
    name: str, memory: Bytes, memory_bandwidth: Bandwidth, power: Power, scale_up: Bandwidth
) -> Gpu:
    return Gpu(
        name=name,
        memory=memory,
        memory_bandwidth=memory_bandwidth,
        peak={"bf16": 312 * TERA, "fp16": 312 * TERA},
        sms=108,
        scale_up=scale_up,
        source="nvidia_a100",
        date="2026-11",
        pcie=_PCIE4,
        power=power,
    )


def _hopper(
    name: str, memory: Bytes, memory_bandwidth: Bandwidth, scale_up: Bandwidth, source: str
) -> Gpu:
    return Gpu(
        name=name,
        memory=memory,
        memory_bandwidth=memory_bandwidth,
        peak={"bf16": 989 * TERA, "fp16": 989 * TERA, "fp8": 1979 * TERA},
        sms=132,
        scale_up=scale_up,
        source=source,
        date="2026-11",
        pcie=_PCIE5,
        power=700.0,
        switch_adds=True,
    )


def _blackwell(
    name: str, memory: Bytes, peak: tuple[float, float], sms: Count, power: Power, source: str
) -> Gpu:
    """A Blackwell; `peak` is that of bf16 and that of fp4, both dense and in TFLOP/s."""
    bf16, fp4 = peak
    return Gpu(
        name=name,
        memory=memory,
        memory_bandwidth=8 * TB,
        peak={
            "bf16": bf16 * TERA,
            "fp16": bf16 * TERA,
            "fp8": 2 * bf16 * TERA,
            "fp4": fp4 * TERA,
        },
        sms=sms,
        scale_up=900 * GB,
        source=source,
        date="2026-11",
        pcie=_PCIE5,
        power=power,
        switch_adds=True,
    )


def _superchip(
    name: str, memory: Bytes, peak: tuple[float, float], power: Power, source: str
) -> Gpu:
    """A Blackwell beside a Grace, which it reaches by NVLink-C2C."""
    gpu = _blackwell(name, memory, peak, 152, power, source)
    return replace(gpu, pcie=_C2C, host_link="NVLink-C2C")


def _instinct(
    name: str,
    memory: Bytes,
    memory_bandwidth: Bandwidth,
    peak: Mapping[str, FlopRate],
    sms: Count,
    scale_up: Bandwidth,
    power: Power,
) -> Gpu:
    return Gpu(
        name=name,
        memory=memory,
        memory_bandwidth=memory_bandwidth,
        peak=peak,
        sms=sms,
        scale_up=scale_up,
        source="amd_" + name.rpartition(" ")[2].lower(),
        date="2026-11",
        pcie=_PCIE5,
        power=power,
    )


def _card(  # noqa: PLR0913 (a row)
    name: str,
    memory: Bytes,
    memory_bandwidth: Bandwidth,
    peak: Mapping[str, float],
    sms: Count,
    power: Power,
    source: str,
    pcie: Bandwidth = _PCIE4,
) -> Gpu:
    """A card without NVLink; `peak` in TFLOP/s, "bf16" for both 16-bit types, sums in fp32."""
    rates = {key: rate * TERA for key, rate in peak.items()}
    return Gpu(
        name=name,
        memory=memory,
        memory_bandwidth=memory_bandwidth,
        peak={"bf16": rates["bf16"], "fp16": rates["bf16"], **rates},
        sms=sms,
        scale_up=0.0,
        source=source,
        date="2026-11",
        pcie=pcie,
        power=power,
    )


def _compiled(
    name: str,
    memory: Bytes,
    memory_bandwidth: Bandwidth,
    peak: Mapping[str, float],
    scale_up: Bandwidth,
    source: str,
) -> Gpu:
    """A chip for XLA; `peak` in TFLOP/s, "bf16" for all 16-bit types; `scale_up` all its links."""
    chip = _card(name, memory, memory_bandwidth, peak, _TILED, 0.0, source, _PCIE5)
    return replace(chip, scale_up=scale_up, xla=True)


_CDNA3 = {"bf16": 1307.4 * TERA, "fp16": 1307.4 * TERA, "fp8": 2614.9 * TERA}
_CDNA4 = {"bf16": 2516.6 * TERA, "fp16": 2516.6 * TERA, "fp8": 5033.2 * TERA, "fp4": 10066 * TERA}

ACCELERATORS: Mapping[str, Gpu] = {
    "V100-SXM-32GB": _volta("V100 SXM2 32 GB", 300.0),
    # The module of the DGX-2: more power for the same chip.
    "V100-SXM3-32GB": _volta("V100 SXM3 32 GB", 350.0),
    "A100-SXM-40GB": _ampere("A100 SXM 40 GB", _A100_40, 1.555 * TB, 400.0, 300 * GB),
    "A100-SXM-80GB": _ampere("A100 SXM 80 GB", _A100_80, 2.039 * TB, 400.0, 300 * GB),
    # NVLink only by a bridge between pairs: eight of them talk over PCIe.
    "A100-PCIe-80GB": _ampere("A100 PCIe 80 GB", _A100_80, 1.935 * TB, 300.0, 0.0),
    "A100-PCIe-40GB": _ampere("A100 PCIe 40 GB", _A100_40, 1.555 * TB, 250.0, 0.0),
    # An A100 with 8 instead of 12 NVLinks.
    "A800-SXM-80GB": _ampere("A800 SXM 80 GB", _A100_80, 2.039 * TB, 400.0, 200 * GB),
    "H100-SXM": _hopper("H100 SXM", _H100, 3.35 * TB, 450 * GB, "nvidia_h100"),
    "H100-PCIe": Gpu(
        name="H100 PCIe",
        memory=_H100,
        memory_bandwidth=2 * TB,
        peak={"bf16": 756 * TERA, "fp16": 756 * TERA, "fp8": 1513 * TERA},
        sms=114,
        scale_up=0.0,
        source="nvidia_h100",
        date="2026-11",
        pcie=_PCIE5,
        power=350.0,
    ),
    # NVLink by a bridge between pairs, as for the PCIe card.
    "H100-NVL": Gpu(
        name="H100 NVL",
        memory=93 * GiB,
        memory_bandwidth=3.9 * TB,
        peak={"bf16": 835 * TERA, "fp16": 835 * TERA, "fp8": 1671 * TERA},
        sms=132,
        scale_up=0.0,
        source="bekman2025",
        date="2026-11",
        pcie=_PCIE5,
        power=400.0,
    ),
    "H20": replace(
        _hopper("H20", 95 * GiB, 4 * TB, 450 * GB, "bekman2025"),
        peak={"bf16": 148 * TERA, "fp16": 148 * TERA, "fp8": 296 * TERA},
        sms=78,
        power=400.0,
    ),
    # One Grace for each Hopper: NVLink-C2C of 450 GB/s one way.
    "GH200-96GB": replace(
        _hopper("GH200 96 GB", 95 * GiB, 4 * TB, 450 * GB, "bekman2025"),
        pcie=450 * GB,
        host_link="NVLink-C2C",
        power=1000.0,
    ),
    "GH200-144GB": replace(
        _hopper("GH200 144 GB", 142.7 * GiB, 4.9 * TB, 450 * GB, "bekman2025"),
        pcie=450 * GB,
        host_link="NVLink-C2C",
        power=1000.0,
    ),
    "H200-SXM": _hopper("H200 SXM", 139.72 * GiB, 4.8 * TB, 450 * GB, "nvidia_h200"),
    # An H100 with 8 instead of 18 NVLinks.
    "H800-SXM": _hopper("H800 SXM", _H100, 3.35 * TB, 200 * GB, "deepseek2024"),
    "B200": _blackwell("B200 SXM", 178.35 * GiB, (2250, 9000), 148, 1000.0, "nvidia_b200"),
    "GB200": _superchip("GB200 NVL72", 184.31 * GiB, (2500, 10000), 1200.0, "nvidia_gb200"),
    "B300": replace(
        _blackwell("B300 SXM", 267.69 * GiB, (2250, 13500), 148, 1100.0, "nvidia_b300"), pcie=_PCIE6
    ),
    "GB300": _superchip("GB300 NVL72", 276.5 * GiB, (2500, 15000), 1400.0, "nvidia_b300"),
    # As announced, its maker's figures for a rack of 72 divided by 72; NVFP4 is that of training.
    "VR200": replace(
        _superchip("VR200 NVL72", 288 * GB, (4000, 35000), 1800.0, "nvidia_rubin"),
        memory_bandwidth=22 * TB,
        peak={
            "bf16": 4000 * TERA,
            "fp16": 4000 * TERA,
            "fp8": 17500 * TERA,
            "fp4": 35000 * TERA,
        },
        sms=224,
        scale_up=1800 * GB,
        pcie=2 * _C2C,
    ),
    # Two chips in one module, which software sees as two GPUs; here as one.
    "MI250X": Gpu(
        name="Instinct MI250X",
        memory=2 * 63.98 * GiB,
        memory_bandwidth=3.28 * TB,
        peak={"bf16": 383 * TERA, "fp16": 383 * TERA},
        sms=220,
        scale_up=350 * GB,
        source="bekman2025",
        date="2026-11",
        pcie=_PCIE4,
        power=560.0,
    ),
    # Seven links, one to each other GPU: the whole only when all eight take part.
    "MI300X": _instinct("Instinct MI300X", 191.69 * GiB, 5.3 * TB, _CDNA3, 304, 448 * GB, 750.0),
    "MI325X": _instinct("Instinct MI325X", 255.69 * GiB, 6 * TB, _CDNA3, 304, 448 * GB, 1000.0),
    "MI355X": _instinct("Instinct MI355X", 287.98 * GiB, 8 * TB, _CDNA4, 256, 537.6 * GB, 1400.0),
    "L40S": Gpu(
        name="L40S",
        memory=44.39 * GiB,
        memory_bandwidth=864 * GB,
        peak={"bf16": 362 * TERA, "fp16": 362 * TERA, "fp8": 733 * TERA},
        sms=142,
        scale_up=0.0,
        source="nvidia_l40s",
        date="2026-11",
        pcie=_PCIE4,
        power=350.0,
    ),
    # GeForce halves the rate of products whose sums are in fp32, as those of training are.
    "RTX-4090": _card(
        "RTX 4090", 23.64 * GiB, 1008 * GB, {"bf16": 165.2, "fp8": 330.3}, 128, 450.0, "nvidia_ada"
    ),
    "RTX-5090": _card(
        "RTX 5090",
        31.36 * GiB,
        1792 * GB,
        {"bf16": 209.5, "fp8": 419.0, "fp4": 1676.0},
        170,
        575.0,
        "nvidia_rtx_blackwell",
        _PCIE5,
    ),
    "RTX-PRO-6000": _card(
        "RTX PRO 6000 Blackwell",
        94.97 * GiB,
        1792 * GB,
        {"bf16": 503.8, "fp8": 1007.6, "fp4": 2015.2},
        188,
        600.0,
        "nvidia_rtx_pro_6000",
        _PCIE5,
    ),
    "L4": _card("L4", 22.03 * GiB, 300 * GB, {"bf16": 121.0, "fp8": 242.0}, 58, 72.0, "nvidia_l4"),
    "A10": _card("A10", 22.03 * GiB, 600 * GB, {"bf16": 125.0}, 72, 150.0, "nvidia_a10"),
    # Of 24 ports of 200 Gbit/s 21 lead to the seven others of the node. Its peak in fp8 is that in
    # bf16.
    "Gaudi3": replace(
        _card("Gaudi 3", 128 * GB, 3.7 * TB, {"bf16": 1835.0}, 64, 900.0, "intel_gaudi3", _PCIE5),
        scale_up=525 * GB,
    ),
    # fp8 is no faster than bf16 on v5p and v6e.
    "TPU-v5p": _compiled("TPU v5p", 95 * GiB, 2765 * GB, {"bf16": 459.0}, 600 * GB, "google_tpu"),
    "TPU-v6e": _compiled("TPU v6e", 32 * GB, 1638 * GB, {"bf16": 918.0}, 400 * GB, "google_tpu"),
    "TPU7x": _compiled(
        "TPU7x", 192 * GiB, 7380 * GB, {"bf16": 2307.0, "fp8": 4614.0}, 600 * GB, "google_tpu"
    ),
    "Trainium2": _compiled(
        "Trainium2", 96 * GiB, 2.9 * TB, {"bf16": 667.0, "fp8": 1299.0}, 640 * GB, "aws_trainium"
    ),
    "Trainium3": _compiled(
        "Trainium3",
        144 * GiB,
        4.9 * TB,
        {"bf16": 671.0, "fp8": 2517.0, "fp4": 2517.0},
        1280 * GB,
        "aws_trainium",
    ),
}
