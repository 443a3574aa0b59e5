"""One message from a node to another one, as NCCL sends large ones, by what its time goes to."""

from dataclasses import dataclass

from engine.catalog.transports import INFINIBAND, LAUNCH
from engine.core.units import Bytes, Seconds
from engine.run.parallelism import Cluster
from engine.simulate.layer.device_model import Rank


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeMessage:
    """A message; its parts together are its time.

    Attributes:
        size: its bytes.
        launch: of the kernel.
        hop: from node to node.
        wire: its bytes at the line rate of the GPU's share of the ports.
        loss: what the wire takes longer than that.
        even: bytes that take as long as launch and hop.
    """

    size: Bytes
    launch: Seconds
    hop: Seconds
    wire: Seconds
    loss: Seconds
    even: Bytes

    @property
    def time(self) -> Seconds:
        """All of it."""
        return self.launch + self.hop + self.wire + self.loss


def node_message(cluster: Cluster, rank: Rank, size: Bytes) -> NodeMessage:
    """Return the message; fitted to measured all-reduces over InfiniBand."""
    wire = size / (cluster.nic_bandwidth * cluster.nics_per_node / cluster.gpus_per_node)
    return NodeMessage(
        size=size,
        launch=LAUNCH,
        hop=INFINIBAND.step,
        wire=wire,
        loss=max(0.0, size / rank.port - wire),
        even=(LAUNCH + INFINIBAND.step) * rank.port,
    )
