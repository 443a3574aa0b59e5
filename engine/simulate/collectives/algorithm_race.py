"""All-reduce times of every algorithm, over one network port per GPU."""

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
class RaceNetwork:
    """The GPUs and links that all algorithms run on.

    Attributes:
        world_size: GPUs.
        gpus_per_node: GPUs of a node, which a hierarchy groups; every GPU keeps its own port.
        bandwidth: one-way bandwidth of the port of a GPU.
        scale_up: one-way bandwidth of the link inside a node, per GPU.
        latency: latency of one step between nodes.
        scale_up_latency: latency of one step inside a node.
    """

    world_size: Count
    gpus_per_node: Count
    bandwidth: Bandwidth
    scale_up: Bandwidth
    latency: Seconds
    scale_up_latency: Seconds


def all_reduce_times(race: RaceNetwork, size: Bytes) -> Mapping[str, Seconds]:
    """Return algorithm -> all-reduce time; a hierarchy is left out without several full nodes."""
    wire = size, race.world_size, race.bandwidth, race.latency
    times = {
        "ring": ring_all_reduce_time(*wire),
        "tree": tree_all_reduce_time(*wire),
        "in_network": in_network_all_reduce_time(*wire),
    }
    nodes, rest = divmod(race.world_size, race.gpus_per_node)
    if race.gpus_per_node > 1 and nodes > 1 and not rest:
        times["hierarchical"] = hierarchical_all_reduce_time(
            size,
            race.gpus_per_node,
            nodes,
            race.scale_up,
            race.scale_up_latency,
            race.bandwidth * race.gpus_per_node,
            race.latency,
        )
    return times
