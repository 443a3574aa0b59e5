"""The machines that GPUs come in: how many share a scale-up network, and their network ports.

Port speeds are one way and per port, as the maker or the cloud states them. `date` is the month in
which a figure was last compared with a second source.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from engine.core.units import Bandwidth, Count, Gbit

Network = Literal["infiniband", "roce", "efa", "ethernet", "omnipath"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One kind of machine, or of rack where a scale-up network spans one.

    Attributes:
        name: as its maker writes it.
        gpu: key of `engine.accelerators.ACCELERATORS`.
        gpus_per_node: that share the scale-up network.
        nics_per_node: network ports of those GPUs together.
        nic_bandwidth: of one port, one way.
        network: what the ports speak.
        source: key of the bibliography.
        date: year and month of the last check.
        gpus_per_host: of one host of a rack, whose hosts share one scale-up network; 0: the machine
            is one host.
    """

    name: str
    gpu: str
    gpus_per_node: Count
    nics_per_node: Count
    nic_bandwidth: Bandwidth
    network: Network
    source: str
    date: str
    gpus_per_host: Count = 0

    def domains(self, ranks: Count, hosts: Count = 0) -> Count:
        """Return the scale-up networks that ranks take: hosts, or racks where hosts share one."""
        least = -(-ranks // self.gpus_per_node)
        if not self.gpus_per_host:
            return max(hosts, least)
        return max(least, -(-hosts * self.gpus_per_host // self.gpus_per_node))

    @property
    def network_per_gpu(self) -> Bandwidth:
        """The network ports of a node, shared by its GPUs, one way."""
        return self.nics_per_node * self.nic_bandwidth / self.gpus_per_node


def node_row(
    name: str,
    gpu: str,
    ports: tuple[Count, float],
    network: Network,
    *,
    source: str = "bekman2025",
    gpus_per_node: Count = 8,
    gpus_per_host: Count = 0,
) -> Node:
    """A machine; `ports` is their number and the speed of one in Gbit/s."""
    return Node(
        name=name,
        gpu=gpu,
        gpus_per_node=gpus_per_node,
        nics_per_node=ports[0],
        nic_bandwidth=ports[1] * Gbit,
        network=network,
        source=source,
        date="2026-11",
        gpus_per_host=gpus_per_host,
    )


NODES: Mapping[str, Node] = {
    "dgx-2": node_row(
        "DGX-2", "V100-SXM3-32GB", (8, 100), "infiniband", source="nvidia_v100", gpus_per_node=16
    ),
    "dgx-a100": node_row("DGX A100", "A100-SXM-80GB", (8, 200), "infiniband", source="nvidia_a100"),
    "dgx-h100": node_row("DGX H100", "H100-SXM", (8, 400), "infiniband", source="nvidia_h100"),
    "dgx-h200": node_row("DGX H200", "H200-SXM", (8, 400), "infiniband", source="nvidia_h200"),
    "dgx-b200": node_row("DGX B200", "B200", (8, 400), "infiniband", source="nvidia_b200"),
    "dgx-b300": node_row("DGX B300", "B300", (8, 800), "infiniband", source="nvidia_b300"),
    "gb200-nvl72": node_row(
        "GB200 NVL72",
        "GB200",
        (72, 400),
        "infiniband",
        source="nvidia_gb200",
        gpus_per_node=72,
        gpus_per_host=4,
    ),
    "gb300-nvl72": node_row(
        "GB300 NVL72",
        "GB300",
        (72, 800),
        "infiniband",
        source="nvidia_b300",
        gpus_per_node=72,
        gpus_per_host=4,
    ),
    "vr200-nvl72": node_row(
        "Vera Rubin NVL72",
        "VR200",
        (72, 1600),
        "infiniband",
        source="nvidia_rubin",
        gpus_per_node=72,
        gpus_per_host=4,
    ),
    "h800": node_row("H800 of DeepSeek", "H800-SXM", (8, 400), "infiniband", source="deepseek2024"),
    "grand-teton": node_row("Meta Grand Teton", "H100-SXM", (8, 400), "roce", source="dubey2024"),
    "p4d": node_row("AWS p4d", "A100-SXM-40GB", (4, 100), "efa"),
    "p4de": node_row("AWS p4de", "A100-SXM-80GB", (4, 100), "efa"),
    "p5": node_row("AWS p5", "H100-SXM", (32, 100), "efa"),
    "p5en": node_row("AWS p5en", "H200-SXM", (16, 200), "efa"),
    "p6-b200": node_row("AWS p6-b200", "B200", (8, 400), "efa"),
    "p6-b300": node_row("AWS p6-b300", "B300", (16, 400), "efa"),
    "a3-high": node_row("Google Cloud A3 High", "H100-SXM", (4, 200), "ethernet"),
    "a3-mega": node_row("Google Cloud A3 Mega", "H100-SXM", (8, 200), "ethernet"),
    "mi300x": node_row("MI300X platform", "MI300X", (8, 400), "roce", source="amd_mi300x"),
    "mi325x": node_row("MI325X platform", "MI325X", (8, 400), "roce", source="amd_mi325x"),
    "mi355x": node_row("MI355X platform", "MI355X", (8, 400), "roce", source="amd_mi355x"),
    "jean-zay": node_row(
        "Jean Zay, A100 partition", "A100-SXM-80GB", (4, 100), "omnipath", source="bigscience2022"
    ),
}
