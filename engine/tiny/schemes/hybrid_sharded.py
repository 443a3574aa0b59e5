"""Hybrid sharding (HSDP, MiCS): sharded inside a group of ranks, replicated across groups.

Parameters are gathered inside a group; of the gradients, the groups sum only shares (Zhang et al.
2022, Zhao et al. 2023).
"""

from engine.core.units import Count
from engine.tiny import gathered
from engine.tiny.gathered import Sharding
from engine.tiny.job import TinyJob
from engine.tiny.result import TrainingResult
from engine.tiny.trace import Recorder, discard_snapshot

TITLE = "Hybrid sharding"
AXIS = "data"
RANKS: tuple[Count, ...] = (1, 2, 4, 8)
NODE: Count = 2  # GPUs of a node


def train(job: TinyJob, ranks: Count, record: Recorder = discard_snapshot) -> TrainingResult:
    """Return the run on nodes of two ranks, each with a copy; losses are not summed here."""
    node = min(NODE, ranks)
    return gathered.train(job, ranks, Sharding(shard=node, gpus_per_node=node), record)
