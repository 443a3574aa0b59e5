"""The switches and cables of a fat tree: leaves, spines and, if those are too few, cores.

A leaf has as many links to the nodes as upward, or `oversubscription` times as many. A leaf's links
upward are spread evenly over its spines. In a tree of three tiers every pod is a tree of two tiers
whose spines use half of their ports upward; above the leaves nothing is oversubscribed.

Tests compare the counts with those that NVIDIA prints for its DGX SuperPODs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import Bandwidth, Count, Ratio
from engine.formulas.fabric import bisection_bandwidth


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricPlan:
    """Nodes to connect, and the switches to connect them with.

    Attributes:
        num_nodes: nodes, or racks where a scale-up network spans one.
        ports_per_node: network ports of each node.
        port: speed of one port, and of every link of the fabric, one way.
        radix: ports of one switch.
        oversubscription: requested ratio of ports below a leaf to links above it.
        rails: whether port k of every node is on leaf k (few nodes: some rails share a leaf);
            otherwise all ports of a node are on one leaf.
    """

    num_nodes: Count
    ports_per_node: Count
    port: Bandwidth
    radix: Count = 64
    oversubscription: Ratio = 1.0
    rails: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """Switches and cables of a fat tree.

    Attributes:
        plan: requirements of the tree.
        down: ports of a leaf to nodes.
        up: links of a leaf upward.
        groups: number of leaf groups: nodes whose ports meet in the same leaves.
        nodes_per_group: nodes of a full group.
        leaves, spines, cores: switches of each tier.
        pods: trees of two tiers below the cores; 1 if there are none.
        to_leaves, to_spines, to_cores: cables of each tier.
    """

    plan: FabricPlan
    down: Count
    up: Count
    groups: Count
    nodes_per_group: Count
    leaves: Count
    spines: Count
    cores: Count
    pods: Count
    to_leaves: Count
    to_spines: Count
    to_cores: Count

    @property
    def oversubscription(self) -> Ratio:
        """Actual ratio of ports below a leaf to links above it, in whole ports."""
        return self.down / self.up

    @property
    def switches(self) -> Count:
        """Number of switches of all tiers."""
        return self.leaves + self.spines + self.cores

    @property
    def cables(self) -> Count:
        """Number of cables of all tiers."""
        return self.to_leaves + self.to_spines + self.to_cores

    @property
    def bisection(self) -> Bandwidth:
        """One-way bandwidth between two halves of the cluster."""
        plan = self.plan
        over = (
            self.oversubscription if self.groups > 1 else 1.0
        )  # one group is never oversubscribed
        return bisection_bandwidth(plan.num_nodes, plan.ports_per_node, plan.port, over)

    @property
    def most_switches(self) -> Count:
        """Number of switches on the longest route between nodes."""
        return 5 if self.pods > 1 else 3 if self.leaves > 1 else 1


def split_ports(radix: Count, oversubscription: Ratio) -> tuple[Count, Count]:
    """Return the ports of a leaf to nodes and upward, whole numbers near the ratio."""
    up = max(1, int(radix / (1 + oversubscription)))
    return min(radix - up, max(1, int(up * oversubscription))), up


def design_fabric(plan: FabricPlan) -> Fabric:
    """Return the smallest fat tree for the plan.

    Raises:
        ValueError: a node has more ports than a leaf could take, or three tiers are too few.
    """
    down, up = split_ports(plan.radix, plan.oversubscription)
    nodes_per_group = down if plan.rails else down // plan.ports_per_node
    if not nodes_per_group:
        raise ValueError(
            f"{plan.ports_per_node} ports of a node do not fit in a leaf with {down} ports to nodes"
        )
    groups = -(-plan.num_nodes // nodes_per_group)
    leaves = groups * (_leaves_per_group(plan, down) if plan.rails else 1)
    spines, cores, pods = _upper_tiers(plan.radix, leaves, up)
    return Fabric(
        plan=plan,
        down=down,
        up=up,
        groups=groups,
        nodes_per_group=nodes_per_group,
        leaves=leaves,
        spines=spines,
        cores=cores,
        pods=pods,
        to_leaves=plan.num_nodes * plan.ports_per_node,
        to_spines=leaves * up if leaves > 1 else 0,
        to_cores=spines * (plan.radix // 2) if cores else 0,
    )


def _leaves_per_group(plan: FabricPlan, down: Count) -> Count:
    """Return the leaves per group: one for each rail, or for as many rails as fit in a leaf."""
    return -(-plan.ports_per_node // max(1, down // plan.num_nodes))


def _upper_tiers(radix: Count, leaves: Count, up: Count) -> tuple[Count, Count, Count]:
    """Return the numbers of spines, cores and pods above leaves with `up` links each.

    Raises:
        ValueError: three tiers are too few.
    """
    if leaves == 1:
        return 0, 0, 1
    if leaves <= radix:
        # Every leaf has equally many links to each spine, so their number divides its links.
        fewest = -(-leaves * up // radix)
        return next(n for n in range(fewest, up + 1) if up % n == 0), 0, 1
    half = radix // 2
    pods = -(-leaves // half)
    if pods > radix:
        most = radix * half
        raise ValueError(f"{leaves} leaves are too many; three tiers of this radix take {most}")
    spines = pods * up
    return spines, -(-spines * half // radix), pods


def switches_between(fabric: Fabric, node: Count, other: Count, *, same_rail: bool) -> Count:
    """Return the number of switches between ports of two different nodes.

    `same_rail` says whether the message arrives at the same port that it left by; without rails
    all ports of a node are on the same leaf.
    """
    first, second = node // fabric.nodes_per_group, other // fabric.nodes_per_group
    meets = same_rail or not fabric.plan.rails or fabric.leaves == 1
    if first == second and meets:
        return 1
    if fabric.pods == 1:
        return 3
    per_pod = fabric.plan.radix // 2 // (fabric.leaves // fabric.groups)
    if not per_pod:  # a group is larger than a pod, so pods are made of rails
        return 3 if meets else 5
    return 3 if first // per_pod == second // per_pod else 5


def gpus_by_switches(fabric: Fabric, gpus: Count, *, pxn: bool) -> Mapping[Count, Count]:
    """Return number of switches -> number of GPUs that the first GPU reaches over them.

    `gpus` is the number per node; with PXN a message may change rails before it leaves.
    """
    counts = {0: gpus - 1}
    ports = min(fabric.plan.ports_per_node, gpus)
    same = gpus if pxn or not fabric.plan.rails else gpus // ports
    for node in range(1, fabric.plan.num_nodes):
        for count, rail in ((same, True), (gpus - same, False)):
            switches = switches_between(fabric, 0, node, same_rail=rail)
            counts[switches] = counts.get(switches, 0) + count
    return {switches: count for switches, count in sorted(counts.items()) if count}


def cost_index(fabric: Fabric, cable: Ratio) -> Ratio:
    """Return the cost of switches and cables over that of one giant switch with all ports.

    `cable` is the cost of a cable in switch ports. Assumed: the cost per port does not depend on
    the radix, and all cables cost the same.
    """
    ports = fabric.to_leaves
    return (fabric.switches * fabric.plan.radix + cable * fabric.cables) / (ports * (1 + cable))
