"""Hosts of GPU nodes: memory, drives and processors.

`date` is the month in which a figure was last compared with a second source.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import GB, TB, Bandwidth, Bytes, Parameters, Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The host of a GPU node: memory and drives.

    Attributes:
        name: of the node.
        memory: of the host.
        drives: capacity of all NVMe drives for data together.
        read, write: of all of them together, measured between a GPU and the drives.
        source: key of the bibliography for the sizes.
        drive_source: key of the bibliography for the bandwidths.
        date: year and month of the last check.
    """

    name: str
    memory: Bytes
    drives: Bytes
    read: Bandwidth
    write: Bandwidth
    source: str
    drive_source: str
    date: str


def _host(name: str, source: str) -> Host:
    """A DGX with 8 drives; the bandwidths are those of 8 PCIe 5 drives in another make."""
    return Host(
        name=name,
        memory=2 * TB,
        drives=8 * 3.84 * TB,
        read=48 * GB,
        write=26 * GB,
        source=source,
        drive_source="deepnvme2025",
        date="2026-11",
    )


HOSTS: Mapping[str, Host] = {
    "dgx-h100": _host("DGX H100", "dgx_basepod"),
    "dgx-h200": _host("DGX H200", "dgx_basepod"),
    "dgx-b200": _host("DGX B200", "dgx_b200_guide"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostUpdate:
    """A measured step of Adam on the processors of a host.

    Attributes:
        name: what ran.
        parameters: that were updated.
        time: that it took.
        source: key of the bibliography.
        date: year and month of the last check.
    """

    name: str
    parameters: Parameters
    time: Seconds
    source: str
    date: str


# The largest row of table 4 of the paper; smaller ones are up to 17 % faster per parameter.
CPU_ADAM = HostUpdate(
    name="DeepSpeed's CPU-Adam, 10B parameters",
    parameters=10e9,
    time=2.57,
    source="ren2021",
    date="2026-11",
)
