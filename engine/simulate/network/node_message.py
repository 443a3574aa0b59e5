"""Time of one large NCCL message between two nodes, by part."""

from dataclasses import dataclass

from engine.catalog.transports import INFINIBAND, LAUNCH
from engine.core.units import Bytes, Seconds
from engine.run.parallelism import Cluster
from engine.simulate.layer.device_model import RankRates


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeMessage:
    """Parts of the time of one message.

    Attributes:
        size: bytes of the message.
        launch: launch of the kernel.
        hop: latency from node to node.
        wire: transfer at the line rate of the GPU's share of the ports.
        loss: transfer time beyond that.
        even: bytes whose transfer takes as long as launch and hop.
    """

    size: Bytes
    launch: Seconds
    hop: Seconds
    wire: Seconds
    loss: Seconds
    even: Bytes

    @property
    def time(self) -> Seconds:
        """Time of the message."""
        return self.launch + self.hop + self.wire + self.loss


def node_message(cluster: Cluster, rank: RankRates, size: Bytes) -> NodeMessage:
    """Return the time parts of a message; fitted to measured all-reduces over InfiniBand."""
    wire = size / (cluster.nic_bandwidth * cluster.nics_per_node / cluster.gpus_per_node)
    return NodeMessage(
        size=size,
        launch=LAUNCH,
        hop=INFINIBAND.step,
        wire=wire,
        loss=max(0.0, size / rank.port - wire),
        even=(LAUNCH + INFINIBAND.step) * rank.port,
    )
