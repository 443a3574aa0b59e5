"""Measured curves between nodes that no constant was fitted to, and what the model predicts.

`unseen_curves.csv` holds times of nccl-tests (of rccl-tests for MI355X), out of place, from 1 MiB
on, as printed by the sources below. What a cluster reaches for its largest message is its own: it
is read off that message, which is left out of the errors. The rest of a curve is predicted.

    python -m tests.validation.unseen_curves

prints the errors of each curve. Not in here, though public: Oracle's quick starts (only 4 GiB and
more), Google's A3 High and A3 Mega (transports over TCP), RTX 6000D with adaptive routing (its own
authors' report of congestion). Every curve was entered before a constant was compared with it. But
the form of the model is not blind: that chunks fill a tree of switches, that NCCL takes what it
plans, and that a ring in LL128 takes longer than planned was found where curves of EFA v2 were off.
No whole curve of the third and fourth EFA could be read.
"""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.basis.units import GB, Bandwidth, Bytes, Count, Ratio, Seconds
from engine.catalog.transports import EFA_V2, INFINIBAND, ROCE, Transport
from engine.formulas import send_time, transfer_time
from tests.validation.curves import points

DATA = Path(__file__).with_name("unseen_curves.csv")
GOOGLE = "docs.cloud.google.com/ai-hypercomputer/docs/nccl/"
VULTR = (
    "a public acceptance report of HGX B200 at Vultr, 2026-05-18 (dgxc-benchmarking, summary.md)"
)
AMAZON = "github.com/aws-samples/awsome-distributed-training, nccl-tests/README.md, 2 p5"
# Times are sizes over the printed bandwidths; 32 MiB to 2 or 8 GiB, NCCL 2.28.7, 2025-10.
GUITAR = "github.com/crazyguitar/aws-gpu-communication-benchmark, data, p5, 2025-10-23"
# 32 MiB to 16 GiB, NCCL 2.29.2, 2026-01-29; ports of 400 Gb/s.
TEN = "github.com/xxrjun/nccl-tests-cluster, example-cluster01, multi-node, 10 nodes of 8 H100"
ALIBABA = "github.com/prasad-nair-amd/alibaba, tests 11 and 12, 2026-04"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """How one curve was measured.

    Attributes:
        operation: "gather" and "scatter" stand for an all-gather and a reduce-scatter.
        ranks: GPUs.
        nodes: of them; 1 where only NVLink is between the ranks.
        source: where it is printed.
        network: between the nodes.
        links: bus bandwidth inside a node, where sums go over it.
        switch_adds: the switch of a node can add.
        fault: why the model is off by more than 15 %, as far as the source tells.
    """

    operation: str
    ranks: Count
    nodes: Count
    source: str
    network: Transport = ROCE
    links: Bandwidth = float("inf")
    switch_adds: bool = False
    fault: str = ""


_STEP = "the measured time more than doubles from 8 to 16 MiB and then stands still"
_LEAVES = "where NCCL goes over from LL128 to Simple, a ring in Simple takes longer than its ramp"
_SLOW = "its owner counts half of the ports as below what they should reach"


def _vultr(operation: str, fault: str = "") -> Measured:
    return Measured(
        operation=operation,
        ranks=16,
        nodes=2,
        source=VULTR,
        network=INFINIBAND,
        links=684 * GB,
        switch_adds=True,
        fault=fault,
    )


def _gather(ranks: Count, nodes: Count, source: str, fault: str = "") -> Measured:
    return Measured(operation="gather", ranks=ranks, nodes=nodes, source=source, fault=fault)


def _efa(operation: str, nodes: Count, source: str = GUITAR, fault: str = "") -> Measured:
    return Measured(
        operation=operation,
        ranks=8 * nodes,
        nodes=nodes,
        source=source,
        network=EFA_V2,
        links=369 * GB,
        switch_adds=True,
        fault=fault,
    )


def _ten(operation: str, ports: Count, fault: str = "") -> Measured:
    """Ten nodes, of which as many GPUs take part as ports."""
    return Measured(
        operation=operation,
        ranks=10 * ports,
        nodes=10,
        source=TEN,
        network=INFINIBAND,
        links=369 * GB,
        switch_adds=True,
        fault=fault,
    )


# With Simple alone the curve would be 8 % off. Its times of LL are those of steps of 1.5 us, and
# NCCL plans 0.6 for a link in a rack as in a node: no source gives another.
_LADDER = "in the protocol for small messages a step between trays takes longer than NCCL plans"
_TRAYS = GOOGLE + "test-gke-custom-a4x"
CURVES: Mapping[str, Measured] = {
    "B200, Google, gather": _gather(16, 2, GOOGLE + "test-gke-custom"),
    "B200, Cluster Toolkit, gather": _gather(
        16, 2, "github.com/GoogleCloudPlatform/cluster-toolkit, gke-a4"
    ),
    "B200, spot, gather": _gather(16, 2, "github.com/esaaren/torch-distributed-training-gke"),
    "H200, Google, gather": _gather(16, 2, GOOGLE + "test-gke-custom"),
    "H200, SkyPilot, gather": _gather(
        16, 2, "github.com/skypilot-org/skypilot, examples/gcp_gpu_direct_tcpx"
    ),
    "H200, one per node, gather": _gather(2, 2, "github.com/google/dranet, A3 Ultra"),
    "GB300, Google, gather": _gather(8, 2, GOOGLE + "test-gke-custom-a4x-max", _STEP),
    "GB300, JobSet, gather": _gather(8, 2, GOOGLE + "test-gke-custom-a4x-max", _STEP),
    "GB200, 2 trays, gather": _gather(8, 1, _TRAYS),
    "GB200, 8 trays, gather": _gather(32, 1, _TRAYS, _LADDER),
    "B200, Vultr, reduce": _vultr("reduce"),
    "B200, Vultr, gather": _vultr("gather", _LEAVES),
    "B200, Vultr, scatter": _vultr("scatter", _LEAVES),
    "B200, Vultr, exchange": _vultr("exchange"),
    "B200, Vultr, exchange tuned": _vultr("exchange", _SLOW),
    "B200, Vultr, send": _vultr("send"),
    "MI355X, exchange": Measured(operation="exchange", ranks=16, nodes=2, source=ALIBABA),
    "MI355X, reduce": Measured(
        operation="reduce", ranks=16, nodes=2, source=ALIBABA, links=400 * GB
    ),
    "EFA v2, Amazon, reduce": _efa("reduce", 2, AMAZON),
    "EFA v2, 2 nodes, reduce": _efa("reduce", 2),
    "EFA v2, 4 nodes, reduce": _efa("reduce", 4),
    "EFA v2, 8 nodes, reduce": _efa("reduce", 8),
    "EFA v2, 16 nodes, reduce": _efa("reduce", 16),
    "EFA v2, 32 nodes, reduce": _efa("reduce", 32),
    "EFA v2, 2 nodes, gather": _efa("gather", 2),
    "EFA v2, 4 nodes, gather": _efa("gather", 4),
    "EFA v2, 8 nodes, gather": _efa("gather", 8),
    "EFA v2, 16 nodes, gather": _efa("gather", 16),
    "EFA v2, 32 nodes, gather": _efa("gather", 32),
    "EFA v2, 2 nodes, exchange": _efa("exchange", 2),
    "EFA v2, 4 nodes, exchange": _efa("exchange", 4),
    "EFA v2, 8 nodes, exchange": _efa("exchange", 8),
    "EFA v2, 16 nodes, exchange": _efa("exchange", 16),
    "EFA v2, 32 nodes, exchange": _efa("exchange", 32),
    **{
        f"H100, 10 nodes of {ports}, {operation}": _ten(operation, ports)
        for operation in ("reduce", "gather", "scatter", "exchange")
        for ports in (1, 2, 4, 8)
        if (operation, ports) not in (("gather", 8), ("scatter", 8))
    },
    "H100, 10 nodes of 8, scatter": _ten("scatter", 8, _LEAVES),
    # Links and shared memory were switched off: every message takes the port.
    "RTX 6000D, exchange": Measured(
        operation="exchange",
        ranks=16,
        nodes=16,
        source="a public report of nccl-tests on two nodes of RTX 6000D, 2026-04-19 (AR off)",
        fault="every message takes the port, also inside a node",
    ),
}

# The curve that one constant is fitted to (`fit_steps.py`), so that it is not among those above.
FITTED: Mapping[str, Measured] = {"H100, 10 nodes of 8, gather": _ten("gather", 8)}


def read() -> dict[str, list[tuple[Bytes, Seconds]]]:
    """Return size and time of the points of each curve, by size."""
    return points(DATA, (*CURVES, *FITTED))


def reached(one: Measured, size: Bytes, time: Seconds) -> Bandwidth:
    """Return the bandwidth of a large message: of the ring, or of a rank's port."""
    if one.operation == "send":
        return size / time
    if one.operation == "exchange":
        return size * (one.nodes - 1) / one.nodes / time
    # Of two nodes a tree sends the buffer over the ports once; of more the ring is the fastest.
    if one.operation == "reduce" and one.nodes == 2:
        return size / time
    if one.operation == "reduce":
        return 2 * size * (one.ranks - 1) / one.ranks / time
    return size * (one.ranks - 1) / one.ranks / time


def predicted(one: Measured, size: Bytes, bandwidth: Bandwidth) -> Seconds:
    """Return the time that the model gives."""
    group = (one.ranks, one.nodes, bandwidth)
    if one.operation == "send":
        return send_time.send_time(size, bandwidth, one.nodes, one.network)
    if one.operation == "exchange":
        return send_time.all_to_all_time(size, *group, one.network)
    if one.operation == "reduce":
        return transfer_time.all_reduce_time(size, *group, one.switch_adds, one.network, one.links)
    what: transfer_time.Half = "reduce_scatter" if one.operation == "scatter" else "all_gather"
    return transfer_time.scatter_or_gather_time(size, *group, one.network, what)


def errors(name: str) -> list[Ratio]:
    """Return predicted over measured bus bandwidth, less one, without the largest message."""
    one, points = (CURVES.get(name) or FITTED[name]), read()[name]
    bandwidth = reached(one, *points[-1])
    return [time / predicted(one, size, bandwidth) - 1 for size, time in points[:-1]]


def mean(name: str) -> Ratio:
    """Return the mean absolute error of a curve."""
    return statistics.fmean(map(abs, errors(name)))


def of_class(operation: str) -> list[str]:
    """Return the curves of an operation between nodes, or between the trays of a rack."""
    return [name for name, one in CURVES.items() if one.operation == operation]


def main() -> None:
    """Print one line per curve."""
    print(f"{'':30s}  mean  worst   bias  from 1 MiB on, in percent")
    for name, one in CURVES.items():
        found = [100 * value for value in errors(name)]
        sizes = list(map(abs, found))
        numbers = (statistics.fmean(sizes), max(sizes), statistics.fmean(found))
        print(f"{name:30s}" + "{:6.1f} {:6.1f} {:+6.1f}  ".format(*numbers) + one.fault)


if __name__ == "__main__":
    main()
