"""Links of a cluster: GPUs behind NVSwitches, ports, leaf switches by rail, spines.

Every link is one-way and has a capacity and a latency. The route of a message:

- in a node: NVLink out, NVLink in (the NVSwitch between them never blocks);
- between nodes: PCIe and port out, leaf, and port and PCIe in. With rails, port k of every node of
  a leaf group is on leaf k, so only messages between rails or groups climb to the spines;
- with PXN, a message for another rail first goes over NVLink to the GPU beside the port of that
  rail, so that it need not climb.

The links of a leaf to all spines are one link: traffic is taken to spread over them evenly.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.core.units import GB, MICRO, Bandwidth, Count, Ratio, Seconds
from engine.simulate.network.fair_share import Link

# PCIe 5.0 x16: 32 GT/s on 16 lanes with 128 bits in 130.
PCIE: Bandwidth = 63 * GB
# Assumed: two more switches and longer cables.
CLIMB: Seconds = 1 * MICRO


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """A cluster of equal nodes.

    Attributes:
        world_size: GPUs; a last node may be partly used.
        gpus_per_node: GPUs that one NVSwitch connects.
        ports_per_node: network ports; each belongs to its share of the GPUs.
        nvlink: one-way NVLink bandwidth of a GPU.
        port: one-way bandwidth of a network port.
        pcie: one-way bandwidth between a GPU and its port.
        nodes_per_group: nodes whose ports meet in the same leaf switches.
        oversubscription: ports' bandwidth under a leaf over that of its links to the spines.
        rails: whether port k of every node is on leaf k; otherwise all of a group are on one.
        pxn: whether a message may change rails over NVLink.
        step_latency: latency of a message through the NVSwitch.
        network_latency: latency of a message through one leaf, software included.
        climb_latency: additional latency of a route over the spines.
        slow: slow links, each with the share of its capacity that is left.
    """

    world_size: Count
    gpus_per_node: Count = 8
    ports_per_node: Count = 8
    nvlink: Bandwidth = 450 * GB
    port: Bandwidth = 50 * GB
    pcie: Bandwidth = PCIE
    nodes_per_group: Count = 32
    oversubscription: Ratio = 1.0
    rails: bool = True
    pxn: bool = True
    step_latency: Seconds = 3.4 * MICRO
    network_latency: Seconds = 14 * MICRO
    climb_latency: Seconds = CLIMB
    slow: tuple[tuple[Link, Ratio], ...] = ()

    @property
    def num_nodes(self) -> Count:
        """Number of nodes, the last one perhaps partly used."""
        return -(-self.world_size // self.gpus_per_node)

    def node(self, gpu: int) -> int:
        """Return the node of a GPU."""
        return gpu // self.gpus_per_node

    def port_of(self, gpu: int) -> int:
        """Return the port of a GPU within its node."""
        return gpu % self.gpus_per_node * self.rails_per_node // self.gpus_per_node

    def leaf(self, gpu: int, port: int) -> int:
        """Return the leaf within the group to which a port of this GPU's node connects."""
        return port if self.rails else 0

    def group(self, gpu: int) -> int:
        """Return the leaf group of a GPU's node."""
        return self.node(gpu) // self.nodes_per_group

    @property
    def rails_per_node(self) -> Count:
        """Number of rails of a node: several ports of one GPU count as one wide port."""
        return min(self.ports_per_node, self.gpus_per_node)

    def capacity(self, link: Link) -> Bandwidth:
        """Return the bandwidth of a link.

        Raises:
            LookupError: there is no such kind of link; the message lists those there are.
        """
        full = _capacity(self, str(link[0]).rpartition("_")[0] or str(link[0]))
        return full * next((share for slow, share in self.slow if slow == link), 1.0)

    def capacities(self, links: Iterable[Link]) -> dict[Link, Bandwidth]:
        """Return the bandwidth of each link; all links of a kind are equal except the slow ones."""
        kinds: dict[object, Bandwidth] = {}
        capacities: dict[Link, Bandwidth] = {}
        for link in links:
            if link[0] not in kinds:
                kinds[link[0]] = _capacity(self, str(link[0]).rpartition("_")[0] or str(link[0]))
            capacities[link] = kinds[link[0]]
        return capacities | {
            link: capacities[link] * share for link, share in self.slow if link in capacities
        }


def _capacity(topology: Topology, kind: str) -> Bandwidth:
    """Return the bandwidth of a healthy link of a kind."""
    if kind == "nvlink":
        return topology.nvlink
    if kind == "pcie":
        return topology.pcie * max(1.0, topology.ports_per_node / topology.gpus_per_node)
    wide = topology.port * topology.ports_per_node / topology.rails_per_node
    if kind == "port":
        return wide
    if kind == "leaf":
        ports = topology.nodes_per_group * (1 if topology.rails else topology.rails_per_node)
        return wide * ports / topology.oversubscription
    raise LookupError(f"no link '{kind}'; there are nvlink, pcie, port, leaf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Route of one message: its links and the latency of its first byte."""

    links: tuple[Link, ...]
    latency: Seconds


def route(topology: Topology, source: int, target: int) -> Route:
    """Return the route of a message from GPU to GPU.

    Raises:
        ValueError: a GPU sends to itself, or does not exist.
    """
    if source == target or not (
        0 <= min(source, target) <= max(source, target) < topology.world_size
    ):
        raise ValueError(
            f"GPU {source} to GPU {target}: two different ones of {topology.world_size} are needed"
        )
    if topology.node(source) == topology.node(target):
        links: tuple[Link, ...] = (("nvlink_out", source), ("nvlink_in", target))
        return Route(links=links, latency=topology.step_latency)
    return _inter_node_route(topology, source, target)


def _inter_node_route(topology: Topology, source: int, target: int) -> Route:
    target_port = topology.port_of(target)
    latency = topology.network_latency
    links: list[Link] = []
    relay, port = source, topology.port_of(source)
    if topology.pxn and topology.rails and port != target_port:
        # The GPU beside the port of the target's rail passes the message on.
        first = topology.node(source) * topology.gpus_per_node
        relay, port = first + target % topology.gpus_per_node, target_port
        links += [("nvlink_out", source), ("nvlink_in", relay)]
        latency += topology.step_latency
    links += [("pcie_out", relay), ("port_out", topology.node(source), port)]
    group, target_group = topology.group(source), topology.group(target)
    leaf, target_leaf = topology.leaf(source, port), topology.leaf(target, target_port)
    if (group, leaf) != (target_group, target_leaf):
        links += [("leaf_up", group, leaf), ("leaf_down", target_group, target_leaf)]
        latency += topology.climb_latency
    links += [("port_in", topology.node(target), target_port), ("pcie_in", target)]
    return Route(links=tuple(links), latency=latency)


def describe_link(link: Link) -> str:
    """Return the display name of a link, such as "port 3 of node 0, out"."""
    kind, *indices = link
    name, _, direction = str(kind).rpartition("_")
    if name in ("nvlink", "pcie"):
        label = "NVLink" if name == "nvlink" else "PCIe"
        return f"{label} of GPU {indices[0]}, {direction}"
    if name == "port":
        return f"port {indices[1]} of node {indices[0]}, {direction}"
    toward = "up to" if direction == "up" else "down from"
    return f"leaf {indices[1]} of group {indices[0]}, {toward} the spines"
