"""GPUs and links: datasheet figures and measured bandwidths.

Every bandwidth is one way: a maker's "900 GB/s" of NVLink counts both directions and stands here
as 450 GB/s. Peaks are dense (no structured sparsity). `date` is the month in which a figure was
last compared with a second source.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.core.units import GB, Bandwidth, Bytes, Count, Gbit, KiB, Operations


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One port as a GPU sees it.

    Attributes:
        name: standard and speed.
        bandwidth: line rate of the datasheet, one way.
        source: key of the bibliography for the bandwidth.
        date: year and month of the last check.
    """

    name: str
    bandwidth: Bandwidth
    source: str
    date: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredAllReduce:
    """A measured all-reduce. Bus bandwidth, so that it compares with a line rate.

    With NVLS the switch adds, less data crosses the wire, and bus bandwidth may exceed the line
    rate; never use such a figure for an operation without a reduction in the switch.

    Attributes:
        name: GPUs that take part.
        link: key of `LINKS`.
        ports: of that link that a ring can use at once: one for a GPU's NVLinks together, and of
            the network as many as a node has.
        algorithm: "ring" (NVLS switched off), "nvls", "sharp" (switches of the network add), or
            "default" (left to the library).
        world_size: ranks.
        size: buffer of a rank.
        bus_bandwidth: 2(n - 1)/n times buffer over time.
        source: key of the bibliography.
        date: year and month of the last check.
    """

    name: str
    link: str
    algorithm: str
    world_size: Count
    size: Bytes
    bus_bandwidth: Bandwidth
    source: str
    date: str
    ports: Count = 1


# Those a reader chooses from where only the bf16 peak matters.
GPUS: Mapping[str, Gpu] = {
    "a100": ACCELERATORS["A100-SXM-80GB"],
    "h100": ACCELERATORS["H100-SXM"],
    "h200": ACCELERATORS["H200-SXM"],
    "b200": ACCELERATORS["B200"],
    "mi300x": ACCELERATORS["MI300X"],
}


def _link(name: str, bandwidth: Bandwidth, source: str) -> Link:
    return Link(name=name, bandwidth=bandwidth, source=source, date="2026-11")


# Latencies are those of `engine.catalog.transports`.
LINKS: Mapping[str, Link] = {
    "nvlink3": _link("NVLink 3", 300 * GB, "nvidia_a100"),
    "nvlink4": _link("NVLink 4", 450 * GB, "nvidia_h100"),
    "nvlink5": _link("NVLink 5", 900 * GB, "nvidia_b200"),
    # Of Rubin; announced.
    "nvlink6": _link("NVLink 6 (announced)", 1800 * GB, "nvidia_rubin"),
    "infiniband_hdr": _link("InfiniBand HDR", 200 * Gbit, "bekman2025"),
    "infiniband_ndr": _link("InfiniBand NDR", 400 * Gbit, "bekman2025"),
    "infiniband_xdr": _link("InfiniBand XDR", 800 * Gbit, "bekman2025"),
    "ethernet_100g": _link("100G Ethernet", 100 * Gbit, "ieee8023"),
    # A p5 instance has 32 cards of 100 Gb/s for 8 GPUs, four to each.
    "efa_v2": _link("EFA v2, 4 cards per GPU", 400 * Gbit, "bekman2025"),
}


def _measured(
    name: str,
    link: str,
    algorithm: str,
    size: Bytes,
    bus_bandwidth: Bandwidth,
) -> MeasuredAllReduce:
    return MeasuredAllReduce(
        name=name,
        link=link,
        algorithm=algorithm,
        world_size=8,
        size=size,
        bus_bandwidth=bus_bandwidth,
        source="bekman2025",
        date="2026-11",
    )


_GiB8 = 8 * 2.0**30

MEASURED: Mapping[str, MeasuredAllReduce] = {
    "a100": _measured("8 × A100", "nvlink3", "default", _GiB8, 234.6 * GB),
    "h200_ring": _measured("8 × H200", "nvlink4", "ring", _GiB8, 365.6 * GB),
    "h200_nvls": _measured("8 × H200", "nvlink4", "nvls", _GiB8, 473.1 * GB),
    "b200_ring": _measured("8 × B200", "nvlink5", "ring", _GiB8, 682.2 * GB),
    "b200_nvls": _measured("8 × B200", "nvlink5", "nvls", _GiB8, 838.0 * GB),
    # Of 72 ranks, as its two columns of bandwidth show: 834.57/423.16 = 2 x 71/72.
    "gb200_nvl72": MeasuredAllReduce(
        name="72 × GB200, one NVL72",
        link="nvlink5",
        algorithm="default",
        world_size=72,
        size=_GiB8,
        bus_bandwidth=834.57 * GB,
        source="coreweave2025",
        date="2026-11",
    ),
    # Of 96 ranks, by the same ratio: 386.56/195.31 = 2 x 95/96.
    "h100_nodes": MeasuredAllReduce(
        name="96 × H100, 12 nodes",
        link="infiniband_ndr",
        algorithm="sharp",
        world_size=96,
        size=_GiB8,
        bus_bandwidth=386.56 * GB,
        source="coreweave2025",
        date="2026-11",
        ports=8,
    ),
}


def link_name(gpu: str) -> str:
    """Return the name of the link between the GPUs of a node."""
    return "Infinity Fabric" if GPUS[gpu].name.startswith("Instinct") else "NVLink"


@dataclass(frozen=True, slots=True, kw_only=True)
class OnChipMemory:
    """The memories inside one multiprocessor.

    Attributes:
        name: generation.
        sums: where the sums of a matrix product lie: registers, or a memory beside them.
        room: of that; 65,536 registers of 32 bits, and as much beside them.
        shared: shared memory, as far as programs can use it.
        operations: dense, in 16 bits, in one clock of one multiprocessor.
        source: key of the bibliography for the sizes.
        clock_source: key of the bibliography for the operations of a clock (Blackwell: and for
            where sums lie).
        date: year and month of the last check.
    """

    name: str
    sums: str
    room: Bytes
    shared: Bytes
    operations: Operations
    source: str
    clock_source: str
    date: str


def _on_chip(
    name: str, sums: str, operations: Operations, source: str, clock_source: str
) -> OnChipMemory:
    return OnChipMemory(
        name=name,
        sums=sums,
        room=256 * KiB,
        shared=228 * KiB,
        operations=operations,
        source=source,
        clock_source=clock_source,
        date="2026-11",
    )


_HOPPER_CHIP = _on_chip("Hopper", "registers", 4096, "hopper_tuning", "nvidia_peak_clock")
ON_CHIP: Mapping[str, OnChipMemory] = {
    "H100 SXM": _HOPPER_CHIP,
    "H200 SXM": _HOPPER_CHIP,
    "B200 SXM": _on_chip("Blackwell", "tensor memory", 8192, "blackwell_tuning", "zadouri2026"),
}
# 32 banks of 4 bytes in every clock of a multiprocessor (CUDA programming guide).
SHARED_PER_CLOCK: Bytes = 128.0
