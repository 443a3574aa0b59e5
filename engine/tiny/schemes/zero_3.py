"""ZeRO stage 3: parameters too are kept for the own share only, and gathered part by part."""

from engine.core.slices import SlicedFunction, Slices
from engine.core.units import Count
from engine.tiny import gathered
from engine.tiny.gathered import Sharding
from engine.tiny.job import TinyJob
from engine.tiny.result import TrainingResult
from engine.tiny.trace import Recorder, discard_snapshot

TITLE = "ZeRO-3"
AXIS = "data"
RANKS: tuple[Count, ...] = (1, 2, 3, 4, 8)


@SlicedFunction
def train(
    job: TinyJob, ranks: Count, record: Recorder = discard_snapshot, *, reshard: bool = True
) -> Slices[TrainingResult]:
    """Return the run on `ranks` ranks, all of one node; losses are not summed here.

    `reshard`: parameters are freed after the forward pass and gathered again for the backward
    pass; otherwise a micro-batch keeps what it gathered until its backward pass.
    """
    sharding = Sharding(shard=ranks, gpus_per_node=ranks, reshard=reshard)
    return (yield from gathered.train.slices(job, ranks, sharding, record))
