"""GPUs by the names that nccl-tests print: the machine they usually come in, or none.

A machine is named only where the name of the GPU leaves one kind of links. Where it leaves several
(PCIe cards with and without bridges, modules of one to eight in a board), no bandwidth can be
expected from the name; what was published of such GPUs stands beside them.
"""

import re
from dataclasses import dataclass

from engine.core.units import GB, Bandwidth, Count


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclDevice:
    """A GPU as nccl-tests print it.

    Attributes:
        pattern: of the printed name.
        machine: key of `NODES`; empty where the name does not say what joins these GPUs.
        joined_by: what does, where the name leaves it open.
    """

    pattern: re.Pattern[str]
    machine: str = ""
    joined_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedBandwidth:
    """A published bus bandwidth of GPUs without a machine of the table.

    Attributes:
        pattern: of the printed name.
        ranks: GPUs that took part. operation: as in `engine.formulas.bandwidth`.
        bandwidth: of the bus, of a large message.
        joined: what joined them.
        report: issue or pull request of GitHub.
    """

    pattern: re.Pattern[str]
    ranks: Count
    operation: str
    bandwidth: Bandwidth
    joined: str
    report: str


def _device(pattern: str, machine: str = "", joined_by: str = "") -> NcclDevice:
    return NcclDevice(
        pattern=re.compile(rf"\b(?:{pattern})", re.IGNORECASE), machine=machine, joined_by=joined_by
    )


_BRIDGED = "PCIe joins them, with or without NVLink bridges between pairs"
_PCIE = "only PCIe joins them, and its generation, its switches and peer-to-peer copies decide"
# In the order of matching: the names of some GPUs hold those of others.
DEVICES: tuple[NcclDevice, ...] = (
    _device(r"MIG\b", joined_by="a part of a GPU has no NVLink"),
    _device(r"GH200", joined_by="one may be alone in its host, or one of two, four or 32"),
    _device(r"GB10\b", joined_by="each is a computer of its own, and their Ethernet decides"),
    _device(r"H[12]00 (?:PCIe|NVL)|H800 PCIe|H100 80GB HBM2e|H100 NVL", joined_by=_BRIDGED),
    _device(r"A[138]0\d? (?:80GB |40GB )?PCIe|A[18]00-PCIE", joined_by=_BRIDGED),
    _device(r"(?:Tesla )?V100-PCIE|V100S-PCIE", joined_by=_PCIE),
    _device(r"V100-SXM2", joined_by="NVLinks without a switch join them, four or eight in a board"),
    _device(r"RTX|GeForce|Quadro", joined_by=_PCIE),
    _device(r"(?:Tesla )?(?:L4|L20|L40|L40S|A10|A10G|A16|A2|T4|P4|P40)\b", joined_by=_PCIE),
    _device(r"A40\b|A30\b", joined_by=_BRIDGED),
    _device(
        r"H20\b",
        joined_by="its links are those of an H100, its all-reduce is not among the measured",
    ),
    _device(r"GB300\b", "gb300-nvl72"),
    _device(r"GB200\b", "gb200-nvl72"),
    _device(r"B300\b", "dgx-b300"),
    _device(r"B200\b", "dgx-b200"),
    _device(r"H200\b", "dgx-h200"),
    _device(r"H800\b", "h800"),
    _device(r"H100 80GB HBM3|H100 SXM|H100-SXM", "dgx-h100"),
    _device(r"A100-SXM\d?-(?:40|80)GB", "dgx-a100"),
    _device(r"V100-SXM3", "dgx-2"),
    _device(r"MI300X\b", "mi300x"),
    _device(r"MI325X\b", "mi325x"),
    _device(r"MI355X\b", "mi355x"),
)


def _published(
    pattern: str, ranks: Count, bandwidth: float, joined: str, report: str, operation: str
) -> PublishedBandwidth:
    return PublishedBandwidth(
        pattern=re.compile(rf"\b(?:{pattern})", re.IGNORECASE),
        ranks=ranks,
        operation=operation,
        bandwidth=bandwidth * GB,
        joined=joined,
        report=report,
    )


PUBLISHED: tuple[PublishedBandwidth, ...] = (
    _published(
        "H100 PCIe", 2, 116.3, "an NVLink bridge", "NVIDIA/nccl, issue 1161", "all_reduce"
    ),
    _published(
        r"A100[ -](?:80GB |40GB )?PCIe",
        2,
        208.0,
        "an NVLink bridge",
        "NVIDIA/nccl-tests, issue 178",
        "all_reduce",
    ),
    _published(
        "GB10", 2, 23.74, "one cable of 200 Gb/s", "NVIDIA/dgx-spark-playbooks, pull request 103",
        "all_gather",
    ),
    _published("RTX 5090", 8, 28.0, "PCIe 5.0", "NVIDIA/nccl, issue 1639", "all_reduce"),
)  # fmt: skip


def device_row(name: str) -> NcclDevice | None:
    """Return the row of a printed name; None if it is not known."""
    return next((device for device in DEVICES if device.pattern.search(name)), None)


def published_bandwidth(name: str, ranks: Count, operation: str) -> PublishedBandwidth | None:
    """Return the published bandwidth of as many of these GPUs; None if there is none."""
    rows = (row for row in PUBLISHED if row.pattern.search(name))
    return next((row for row in rows if (row.ranks, row.operation) == (ranks, operation)), None)
