"""All-reduces by GPU count with and without sums in the switch, and other collectives, as measured.

Bus bandwidth of large messages (8 and 16 GiB). Sources: Bekman's tables of nccl-tests (2025), and
NVIDIA's slides at GTC 2024 and 2025 as copied there, CoreWeave's expected results (2025), and
issues of NCCL.
"""

from dataclasses import dataclass

from engine.core.units import GB, MICRO, Bandwidth, Bytes, Count, GiB, Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRamp:
    """An all-reduce of 8 GiB in one node.

    Attributes:
        machine: key of `engine.catalog.nodes.NODES`.
        ranks: GPUs of the node that take part.
        ring: NVLS switched off.
        chosen: left to NCCL.
        switch_adds: whether NCCL then chose NVLS.
    """

    machine: str
    ranks: Count
    ring: Bandwidth
    chosen: Bandwidth
    switch_adds: bool


def _ramp(
    machine: str, ranks: Count, ring: float, chosen: float, switch_adds: bool
) -> MeasuredRamp:
    return MeasuredRamp(
        machine=machine,
        ranks=ranks,
        ring=ring * GB,
        chosen=chosen * GB,
        switch_adds=switch_adds,
    )


# The most ranks whose gathers are among the measured curves (tests/validation/unseen_curves.csv).
MOST_GATHERED: Count = 256

RAMP_SIZE: Bytes = 8 * GiB
RAMP_SOURCE = "bekman2025"
RAMPS: tuple[MeasuredRamp, ...] = (
    _ramp("dgx-h200", 4, 363.3, 363.3, False),
    _ramp("dgx-h200", 5, 364.4, 414.2, True),
    _ramp("dgx-h200", 6, 365.1, 435.6, True),
    _ramp("dgx-h200", 7, 365.7, 460.0, True),
    _ramp("dgx-h200", 8, 365.6, 473.1, True),
    _ramp("p6-b200", 4, 673.8, 673.2, False),
    _ramp("p6-b200", 5, 677.8, 677.8, False),
    _ramp("p6-b200", 6, 677.8, 778.2, True),
    _ramp("p6-b200", 7, 680.5, 811.2, True),
    _ramp("p6-b200", 8, 682.2, 838.0, True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCollective:
    """One measured collective.

    Attributes:
        machine: key of `NODES`.
        ranks: GPUs.
        operation: as in `engine.formulas.bandwidth`.
        algorithm: as its source names it.
        size: of the buffer; 0: the best of a large message.
        bandwidth: of the bus; 0 where only a time is published.
        time: of a small message; 0 where only a bandwidth is published.
        called: the machine, where it is another one with the same links.
        source: key of the bibliography.
    """

    machine: str
    ranks: Count
    operation: str
    algorithm: str
    size: Bytes = 0.0
    bandwidth: Bandwidth = 0.0
    time: Seconds = 0.0
    called: str = ""
    source: str = "bekman2025"


COLLECTIVES: tuple[MeasuredCollective, ...] = (
    MeasuredCollective(
        machine="dgx-h200",
        ranks=8,
        operation="all_reduce",
        algorithm="NVLS",
        size=16 * GiB,
        bandwidth=480.0 * GB,
    ),
    MeasuredCollective(
        machine="dgx-h200",
        ranks=8,
        operation="all_reduce",
        algorithm="Ring",
        size=16 * GiB,
        bandwidth=367.2 * GB,
    ),
    MeasuredCollective(
        machine="dgx-h200",
        ranks=8,
        operation="all_gather",
        algorithm="Ring",
        size=16 * GiB,
        bandwidth=361.4 * GB,
    ),
    MeasuredCollective(
        machine="dgx-h200",
        ranks=8,
        operation="reduce_scatter",
        algorithm="Ring",
        size=16 * GiB,
        bandwidth=362.9 * GB,
    ),
    MeasuredCollective(
        machine="dgx-h100",
        ranks=32,
        operation="all_reduce",
        algorithm="not named",
        bandwidth=370 * GB,
    ),
    MeasuredCollective(
        machine="dgx-h100",
        ranks=32,
        operation="all_reduce",
        algorithm="SHARP",
        bandwidth=480 * GB,
    ),
    # Of 12 nodes and of one rack, by the ratio of busbw to algbw in the same README.
    MeasuredCollective(
        machine="dgx-h100",
        ranks=96,
        operation="all_reduce",
        algorithm="SHARP",
        size=8 * GiB,
        bandwidth=386.56 * GB,
        source="coreweave2025",
    ),
    MeasuredCollective(
        machine="gb200-nvl72",
        ranks=32,
        operation="all_reduce",
        algorithm="Ring",
        bandwidth=680 * GB,
    ),
    MeasuredCollective(
        machine="gb200-nvl72",
        ranks=32,
        operation="all_reduce",
        algorithm="NVLS",
        bandwidth=850 * GB,
    ),
    MeasuredCollective(
        machine="gb200-nvl72",
        ranks=72,
        operation="all_reduce",
        algorithm="not named",
        size=8 * GiB,
        bandwidth=834.57 * GB,
        source="coreweave2025",
    ),
    MeasuredCollective(
        machine="grand-teton",
        ranks=32,
        operation="all_reduce",
        algorithm="NVLS on or off",
        size=8 * GiB,
        bandwidth=320 * GB,
        called="8 H100, RoCE",
        source="nccl1221",
    ),
    # The same report: on one node and on two, 330 GB/s without NVLS and 430 with it.
    MeasuredCollective(
        machine="grand-teton",
        ranks=16,
        operation="all_reduce",
        algorithm="NVLS on",
        size=8 * GiB,
        bandwidth=430 * GB,
        called="8 H100, RoCE",
        source="nccl1221",
    ),
    MeasuredCollective(
        machine="p5",
        ranks=16,
        operation="all_reduce",
        algorithm="not named",
        size=16 * GiB,
        bandwidth=487.1 * GB,
        source="awsome_nccl",
    ),
    MeasuredCollective(
        machine="dgx-b300",
        ranks=8,
        operation="all_reduce",
        algorithm="Ring",
        bandwidth=695 * GB,
        called="8 B300",
        source="nccl2140",
    ),
    MeasuredCollective(
        machine="dgx-b300",
        ranks=8,
        operation="all_reduce",
        algorithm="NVLS",
        bandwidth=845 * GB,
        called="8 B300",
        source="nccl2140",
    ),
    # H20, of which no node is in the table: links of a Hopper and ports of 400 Gb/s.
    MeasuredCollective(
        machine="dgx-h100",
        ranks=16,
        operation="all_reduce",
        algorithm="NVLSTree",
        size=64.0,
        time=46.3 * MICRO,
        called="HGX H20",
        source="nccl1244",
    ),
    MeasuredCollective(
        machine="dgx-h100",
        ranks=8,
        operation="all_to_all",
        algorithm="Send and receive",
        bandwidth=320 * GB,
    ),
    MeasuredCollective(
        machine="dgx-h100",
        ranks=32,
        operation="all_to_all",
        algorithm="Send and receive",
        bandwidth=48 * GB,
    ),
)
# An all-reduce over sockets on 100 Gb/s Ethernet, by the slide of GTC 2024.
SOCKETS: Bandwidth = 10 * GB
# Eight GPUs behind PCIe 5.0, by the same slide.
PCIE_5: Bandwidth = 48 * GB
