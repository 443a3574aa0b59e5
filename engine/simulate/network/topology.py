"""The wires of a cluster: GPUs behind NVSwitches, ports, leaf switches by rail, spines.

Every link is one-way and has a capacity and a latency. What a message crosses:

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
        gpus_per_node: that one NVSwitch connects.
        ports_per_node: network ports; each belongs to its share of the GPUs.
        nvlink: of one GPU, one way.
        port: of one network port, one way.
        pcie: between a GPU and its port, one way.
        nodes_per_group: nodes whose ports meet in the same leaf switches.
        oversubscription: ports' bandwidth under a leaf over that of its links to the spines.
        rails: whether port k of every node is on leaf k; otherwise all of a group are on one.
        pxn: whether a message may change rails over NVLink.
        step_latency: of a message through the NVSwitch.
        network_latency: of a message through one leaf, software included.
        climb_latency: added by the way up to the spines and down.
        slow: links of which only a share of the capacity is left, and that share.
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
        """Nodes, the last one perhaps partly used."""
        return -(-self.world_size // self.gpus_per_node)

    def node(self, gpu: int) -> int:
        """Return the node of a GPU."""
        return gpu // self.gpus_per_node

    def port_of(self, gpu: int) -> int:
        """Return the port of its node that a GPU is next to."""
        return gpu % self.gpus_per_node * self.rails_per_node // self.gpus_per_node

    def leaf(self, gpu: int, port: int) -> int:
        """Return the leaf within the group that a port of this GPU's node is on."""
        return port if self.rails else 0

    def group(self, gpu: int) -> int:
        """Return the leaf group of a GPU's node."""
        return self.node(gpu) // self.nodes_per_group

    @property
    def rails_per_node(self) -> Count:
        """Ports of a node that are told apart: several ports of one GPU count as one wide port."""
        return min(self.ports_per_node, self.gpus_per_node)

    def capacity(self, link: Link) -> Bandwidth:
        """Return what a link carries per second.

        Raises:
            LookupError: there is no such kind of link; the message lists those there are.
        """
        full = _capacity(self, str(link[0]).rpartition("_")[0] or str(link[0]))
        return full * next((share for slow, share in self.slow if slow == link), 1.0)

    def capacities(self, links: Iterable[Link]) -> dict[Link, Bandwidth]:
        """Return what each link carries per second; all of a kind are alike but the slow ones."""
        kinds: dict[object, Bandwidth] = {}
        found: dict[Link, Bandwidth] = {}
        for link in links:
            if link[0] not in kinds:
                kinds[link[0]] = _capacity(self, str(link[0]).rpartition("_")[0] or str(link[0]))
            found[link] = kinds[link[0]]
        return found | {link: found[link] * share for link, share in self.slow if link in found}


def _capacity(topology: Topology, kind: str) -> Bandwidth:
    """Return what a link of a kind carries if nothing is wrong with it."""
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
    """The way of one message: the links it crosses and how long its first byte takes."""

    links: tuple[Link, ...]
    latency: Seconds


def route(topology: Topology, source: int, target: int) -> Route:
    """Return the way of a message from GPU to GPU.

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
    return _between_nodes(topology, source, target)


def _between_nodes(topology: Topology, source: int, target: int) -> Route:
    there = topology.port_of(target)
    latency = topology.network_latency
    links: list[Link] = []
    relay, port = source, topology.port_of(source)
    if topology.pxn and topology.rails and port != there:
        # The GPU beside the port of the target's rail passes the message on.
        first = topology.node(source) * topology.gpus_per_node
        relay, port = first + target % topology.gpus_per_node, there
        links += [("nvlink_out", source), ("nvlink_in", relay)]
        latency += topology.step_latency
    links += [("pcie_out", relay), ("port_out", topology.node(source), port)]
    group, other = topology.group(source), topology.group(target)
    leaf, far = topology.leaf(source, port), topology.leaf(target, there)
    if (group, leaf) != (other, far):
        links += [("leaf_up", group, leaf), ("leaf_down", other, far)]
        latency += topology.climb_latency
    links += [("port_in", topology.node(target), there), ("pcie_in", target)]
    return Route(links=tuple(links), latency=latency)


def describe(link: Link) -> str:
    """Return the name of a link in words: "port 3 of node 0, out"."""
    kind, *at = link
    name, _, way = str(kind).rpartition("_")
    if name in ("nvlink", "pcie"):
        label = "NVLink" if name == "nvlink" else "PCIe"
        return f"{label} of GPU {at[0]}, {way}"
    if name == "port":
        return f"port {at[1]} of node {at[0]}, {way}"
    return f"leaf {at[1]} of group {at[0]}, {'up to' if way == 'up' else 'down from'} the spines"
