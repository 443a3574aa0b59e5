"""The same all-reduce by every algorithm, over one network port to each GPU."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import Bandwidth, Bytes, Count, Seconds
from engine.formulas.communication import (
    in_network_all_reduce_time,
    ring_all_reduce_time,
    tree_all_reduce_time,
)
from engine.formulas.hierarchy import hierarchical_all_reduce_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """What all algorithms run on.

    Attributes:
        world_size: GPUs.
        gpus_per_node: that a hierarchy finds together; every GPU keeps its own port.
        bandwidth: of the port of a GPU, one way.
        scale_up: of the link inside a node, per GPU, one way.
        latency: of one step between nodes.
        scale_up_latency: of one step inside a node.
    """

    world_size: Count
    gpus_per_node: Count
    bandwidth: Bandwidth
    scale_up: Bandwidth
    latency: Seconds
    scale_up_latency: Seconds


def times(race: Race, size: Bytes) -> Mapping[str, Seconds]:
    """Return what every algorithm takes that can run: a hierarchy needs several full nodes."""
    wire = size, race.world_size, race.bandwidth, race.latency
    found = {
        "ring": ring_all_reduce_time(*wire),
        "tree": tree_all_reduce_time(*wire),
        "in_network": in_network_all_reduce_time(*wire),
    }
    nodes, rest = divmod(race.world_size, race.gpus_per_node)
    if race.gpus_per_node > 1 and nodes > 1 and not rest:
        found["hierarchical"] = hierarchical_all_reduce_time(
            size,
            race.gpus_per_node,
            nodes,
            race.scale_up,
            race.scale_up_latency,
            race.bandwidth * race.gpus_per_node,
            race.latency,
        )
    return found
