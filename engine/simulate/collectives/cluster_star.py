"""A star on a cluster: everybody sends the whole buffer to GPU 0, which sends the sum to all."""

from dataclasses import replace

from engine.simulate.collectives.cluster_collectives import Cluster
from engine.simulate.collectives.collective_time import Phase, phase
from engine.simulate.network.fair_share import Flow, Link
from engine.simulate.network.topology import Topology, route


def star(cluster: Cluster) -> tuple[Phase, ...]:
    """Return the two phases of a star."""
    topology = cluster.topology
    others = range(1, topology.world_size)
    relayed = topology.pxn and topology.rails
    into = (
        phase(tuple((gpu, 0, 1.0) for gpu in others), topology)
        if topology.slow
        else _by_node(topology, inward=True)
    )
    # With PXN the root sends by all ports of its node, so its rails differ from one another.
    out = (
        phase(tuple((0, gpu, 1.0) for gpu in others), topology)
        if topology.slow or relayed
        else _by_node(topology, inward=False)
    )
    return (replace(into, label="into the root"), replace(out, label="out of the root"))


def _by_node(topology: Topology, *, inward: bool) -> Phase:
    """Return one phase with the GPUs of a node taken together.

    Links shared by nodes carry all of them. In its own node, the ports carry them where they
    meet: at the root's rail with PXN, each at its own without. NVLink and PCIe there are faster
    than the port of the root that all wait for, so one GPU's own stand for them.
    """
    size, flows = topology.gpus_per_node, []
    ports = 1 if topology.pxn and topology.rails and inward else topology.rails_per_node
    for node in range(topology.num_nodes):
        gpu = node * size + size - 1
        count = float(size if node else size - 1)
        if not count:
            continue
        way = route(topology, gpu, 0) if inward else route(topology, 0, gpu)
        near: dict[Link, float] = {}
        for link in way.links:
            own = str(link[0]).startswith("port") and link[1] == node
            private = str(link[0]).startswith(("nvlink", "pcie")) and link[1] != 0
            near[link] = 1.0 if private else count / ports if own and node else count
        flows.append(Flow(size=1.0, links=near, latency=way.latency, count=count))
    capacity = topology.capacities(link for flow in flows for link in flow.links)
    return Phase(label="", flows=tuple(flows), capacity=capacity)
