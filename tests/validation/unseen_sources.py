"""The measured curves between nodes that no constant was fitted to: conditions and sources.

Their points are in `unseen_curves.csv`; `unseen_curves.py` predicts them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.catalog.transports import (
    EFA_V2,
    INFINIBAND,
    NVLINK_NETWORK,
    ROCE,
    SWITCH_SHARE,
    SWITCH_SHARE_BLACKWELL,
    Transport,
)
from engine.core.units import GB, Bandwidth, Count, Share

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
        switch: the share of the links that its switch reaches; 0: it cannot add.
        fault: why the model is off by more than 15 %, as far as the source tells.
    """

    operation: str
    ranks: Count
    nodes: Count
    source: str
    network: Transport = ROCE
    links: Bandwidth = float("inf")
    switch: Share = 0.0
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
        switch=SWITCH_SHARE_BLACKWELL,
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
        switch=SWITCH_SHARE,
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
        switch=SWITCH_SHARE,
        fault=fault,
    )


def _trays(count: Count) -> Measured:
    """Trays of a rack; to their messages of 1 to 64 KiB, in no file, one step was fitted."""
    return Measured(
        operation="gather", ranks=4 * count, nodes=1, source=_TRAYS, network=NVLINK_NETWORK
    )


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
    "GB200, 2 trays, gather": _trays(2),
    "GB200, 8 trays, gather": _trays(8),
    "B200, Vultr, reduce": _vultr("reduce"),
    "B200, Vultr, gather": _vultr("gather"),
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
