"""Machines of the catalog as a cluster, with the constants that a reader measured on them."""

from collections.abc import Mapping

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.more_nodes import EVERY_NODE
from engine.catalog.reader_constants import parse_constants
from engine.run.parallelism import Cluster, Transport

_EFA: Mapping[str, Transport] = {
    "p4d": "efa-v1",
    "p4de": "efa-v1",
    "p5": "efa-v2",
    "p5en": "efa-v3",
    "p6-b200": "efa-v4",
    "p6-b300": "efa-v4",
    "p3dn": "efa-v1",
    "g6": "efa-v2",
    "g6e": "efa-v2",
    "g7e": "efa-v4",
    "trn2": "efa-v3",
    "trn2-ultra": "efa-v3",
}


def transport_of(machine: str) -> Transport:
    """Return the network transport between machines, given as a key of `EVERY_NODE`."""
    ethernet = EVERY_NODE[machine].network in ("roce", "ethernet")
    return _EFA.get(machine, "roce" if ethernet else "infiniband")


def cluster_of(machine: str, own_constants: str = "") -> Cluster:
    """Return machines, given as a key of `EVERY_NODE`, as a cluster.

    Args:
        machine: key of `EVERY_NODE`.
        own_constants: text of what was measured on them; empty: the catalog's constants.
    """
    node = EVERY_NODE[machine]
    return Cluster(
        gpu=ACCELERATORS[node.gpu],
        gpus_per_node=node.gpus_per_node,
        nics_per_node=node.nics_per_node,
        nic_bandwidth=node.nic_bandwidth,
        transport=transport_of(machine),
        own_constants=parse_constants(own_constants),
    )
