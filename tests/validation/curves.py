"""Measured all-reduce curves, and what the model predicts under the conditions of each.

`all_reduce_curves.csv` holds the curves of `collectives.csv` that state size, time and system. A
tool adds its own time: `nccl-tests` with all GPUs of a node in one process starts them one after
another, which small messages wait for; `all_reduce_bench.py` times one call of PyTorch after the
other, each with the overhead of the host (20 to 30 us by its own text). Its later versions queue
calls, and `nccl-tests` with a process per GPU hides the host likewise.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.catalog.transports import EFA_V1, INFINIBAND, SWITCH_SHARE, Transport
from engine.core.units import GB, MICRO, Bandwidth, Bytes, Count, Seconds, Share
from engine.formulas import ring_time, switch_time, transfer_time

DATA = Path(__file__).with_name("all_reduce_curves.csv")

# Of the tools, not of the machines; fitted together with the constants of the links.
ONE_PROCESS: Seconds = 4.77 * MICRO  # per GPU that one process starts
ONE_CALL: Seconds = 19.2 * MICRO  # of torch.distributed, with nothing queued


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """How one curve was measured.

    Attributes:
        system: how its name starts in the table.
        ranks: GPUs.
        nodes: of them.
        bandwidth: bus bandwidth of large messages.
        algorithm: forced by NCCL_ALGO; NVLS on a node without it leaves the ring.
        switch: the share of the bandwidth that its switch reaches; 0: it cannot add.
        network: between nodes.
        one_process: it starts all GPUs.
        one_call: a call of PyTorch at a time.
    """

    system: str
    ranks: Count
    nodes: Count
    bandwidth: Bandwidth
    algorithm: str = ""
    switch: Share = 0.0
    network: Transport = INFINIBAND
    one_process: bool = False
    one_call: bool = False


_A100, _H100 = 235 * GB, 369 * GB
CURVES: Mapping[str, Conditions] = {
    "A100, nccl-tests": Conditions(
        system="8x A100", ranks=8, nodes=1, bandwidth=_A100, one_process=True
    ),
    "A100, Azure": Conditions(
        system="Azure ND_A100",
        ranks=8,
        nodes=1,
        bandwidth=_A100,
        algorithm="ring",
        one_process=True,
    ),
    "H200, PyTorch": Conditions(
        system="8x H200 node (NVLink4, NVLS on)",
        ranks=8,
        nodes=1,
        bandwidth=_H100,
        switch=SWITCH_SHARE,
        one_call=True,
    ),
    "H200, Azure": Conditions(
        system="Azure ND_H200",
        ranks=8,
        nodes=1,
        bandwidth=_H100,
        algorithm="nvls",
        switch=SWITCH_SHARE,
        one_process=True,
    ),
    "H100, DGX Cloud": Conditions(
        system="DGX H100 (NVIDIA", ranks=8, nodes=1, bandwidth=_H100, switch=SWITCH_SHARE
    ),
    "4 nodes, PyTorch": Conditions(
        system="4-node example", ranks=32, nodes=4, bandwidth=96 * GB, one_call=True
    ),
    # Four ports of 100 Gb/s, of which 0.92 is reached.
    "2 nodes, EFA v1": Conditions(
        system="AWS 2x p4de", ranks=16, nodes=2, bandwidth=46.3 * GB, network=EFA_V1
    ),
}


def read() -> dict[str, list[tuple[Bytes, Seconds]]]:
    """Return size and time of the points of each curve."""
    return points(DATA, CURVES)


def points(data: Path, names: Iterable[str]) -> dict[str, list[tuple[Bytes, Seconds]]]:
    """Return size and time of the points of the curves in a file."""
    found: dict[str, list[tuple[Bytes, Seconds]]] = {name: [] for name in names}
    with data.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[row["curve"]].append((float(row["size"]), float(row["microseconds"]) * MICRO))
    return found


def predicted(one: Conditions, size: Bytes) -> Seconds:
    """Return the time that the tool would show."""
    group = (one.ranks, one.nodes, one.bandwidth)
    if one.algorithm == "ring":
        time = ring_time.ring_all_reduce_ramped_time(size, *group, one.network)
    elif one.algorithm == "nvls":
        time = switch_time.switch_all_reduce_time(size, one.ranks, one.bandwidth, one.switch)
    else:
        time = transfer_time.all_reduce_time(size, *group, one.switch, one.network)
    if one.one_call:
        time += ONE_CALL
    return max(time, one.ranks * ONE_PROCESS) if one.one_process else time


def error(one: Conditions, size: Bytes, time: Seconds) -> float:
    """Return predicted over measured bus bandwidth, less one."""
    return time / predicted(one, size) - 1
