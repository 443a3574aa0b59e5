"""One batch, cut in more or fewer micro-batches: what a boundary of stages then carries."""

from dataclasses import dataclass

from engine.core.units import Bytes, Count, Seconds, Share
from engine.formulas.pipeline import bubble_share
from engine.formulas.send_time import send_time
from engine.run.run import Run
from engine.simulate.layer.device_model import rank_of, stage_hops

_MOST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCut:
    """A way to cut the batch.

    Attributes:
        num_microbatches: of a step.
        sequences: of each.
        latencies: of all messages over one boundary, both ways, one after the other.
        time: of those messages, latencies included.
        bubble: of 1F1B, as a share of the step.
    """

    num_microbatches: Count
    sequences: Count
    latencies: Seconds
    time: Seconds
    bubble: Share


def batch_cuts(run: Run, sequences: Count, size: Bytes) -> tuple[BatchCut, ...]:
    """Return about six ways to cut a batch of `sequences`, whose hidden states are `size` bytes.

    The ranks of tensor and context parallelism send one share each.
    """
    plan = run.plan
    rank = rank_of(run.cluster, run.training)
    hop = stage_hops(rank, plan).slowest
    path = (hop.bandwidth, hop.nodes, rank.network)
    share = plan.tensor_parallel * plan.context_parallel
    counts = [count for count in range(1, sequences + 1) if sequences % count == 0]
    return tuple(
        BatchCut(
            num_microbatches=count,
            sequences=sequences // count,
            latencies=2 * count * send_time(0.0, *path),
            time=2 * count * send_time(size / count / share, *path),
            bubble=bubble_share(plan.pipeline_parallel, count),
        )
        for count in counts[:: -(-len(counts) // _MOST)]
    )
