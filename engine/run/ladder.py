"""The ladder of bandwidths between a GPU's memory and the network of its node."""

from dataclasses import dataclass

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.nodes import Node
from engine.core.units import Bandwidth


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One level of bandwidth between a GPU's cores and the network.

    Attributes:
        key: "memory", "scale_up", "host" or "network".
        bandwidth: of the datasheet, one way.
        source: key of the bibliography for it.
    """

    key: str
    bandwidth: Bandwidth
    source: str


def bandwidth_ladder(node: Node) -> tuple[Rung, ...]:
    """Return the rungs of a GPU of this node, from its memory to the network."""
    gpu = ACCELERATORS[node.gpu]
    return (
        Rung(key="memory", bandwidth=gpu.memory_bandwidth, source=gpu.source),
        Rung(key="scale_up", bandwidth=gpu.scale_up, source=gpu.source),
        Rung(key="host", bandwidth=gpu.pcie, source=gpu.source),
        Rung(key="network", bandwidth=node.network_per_gpu, source=node.source),
    )
