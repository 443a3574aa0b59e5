"""Hybrid sharding (HSDP): sharded inside a node, replicated across nodes.

Parameters are gathered over the links of the node; of the gradients only a shard crosses the
network. `data` of the workload is the group inside, `replicas` the one across.
"""

from engine.simulate.programs._passes import sequential_passes
from engine.simulate.programs._sharded import sharded_step
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import Workload

TITLE = "Hybrid sharding"


def program(work: Workload) -> tuple[StreamOp, ...]:
    """Return the operations of one step.

    Raises:
        ValueError: the workload has no group of replicas.
    """
    if work.replicas is None:
        raise ValueError("replicas is None; hybrid sharding needs the group of ranks across nodes")
    return sharded_step(work, sequential_passes(work))
