"""Star all-reduce: every GPU sends its whole buffer to GPU 0, which sends the sum to all."""

from dataclasses import replace

from engine.simulate.collectives.cluster_collectives import ClusterLayout
from engine.simulate.collectives.collective_time import Phase, message_phase
from engine.simulate.network.fair_share import Flow, Link
from engine.simulate.network.topology import Topology, route


def star_all_reduce(cluster: ClusterLayout) -> tuple[Phase, ...]:
    """Return the two phases of a star all-reduce: gather to the root and broadcast."""
    topology = cluster.topology
    others = range(1, topology.world_size)
    relayed = topology.pxn and topology.rails
    gather_phase = (
        message_phase(tuple((gpu, 0, 1.0) for gpu in others), topology)
        if topology.slow
        else _aggregated_phase(topology, inward=True)
    )
    # With PXN the root sends by all ports of its node, so its rails differ from one another.
    broadcast_phase = (
        message_phase(tuple((0, gpu, 1.0) for gpu in others), topology)
        if topology.slow or relayed
        else _aggregated_phase(topology, inward=False)
    )
    return (
        replace(gather_phase, label="into the root"),
        replace(broadcast_phase, label="out of the root"),
    )


def _aggregated_phase(topology: Topology, *, inward: bool) -> Phase:
    """Return one phase in which the flows of a node's GPUs are aggregated.

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
        path = route(topology, gpu, 0) if inward else route(topology, 0, gpu)
        weights: dict[Link, float] = {}
        for link in path.links:
            same_node = str(link[0]).startswith("port") and link[1] == node
            private = str(link[0]).startswith(("nvlink", "pcie")) and link[1] != 0
            weights[link] = 1.0 if private else count / ports if same_node and node else count
        flows.append(Flow(size=1.0, links=weights, latency=path.latency, count=count))
    capacity = topology.capacities(link for flow in flows for link in flow.links)
    return Phase(label="", flows=tuple(flows), capacity=capacity)
