"""Messages between pipeline stages for different numbers of micro-batches per batch."""

from dataclasses import dataclass

from engine.core.units import Bytes, Count, Seconds, Share
from engine.formulas.pipeline import bubble_share
from engine.formulas.send_time import send_time
from engine.run.run import Run
from engine.simulate.layer.device_model import rank_rates, stage_hops

_MOST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCut:
    """Messages and bubble for one number of micro-batches.

    Attributes:
        num_microbatches: micro-batches of a step.
        sequences: sequences of a micro-batch.
        latencies: sum of the latencies of all messages over one boundary, both ways.
        time: time of those messages, latencies included.
        bubble: 1F1B bubble, as a share of the step.
    """

    num_microbatches: Count
    sequences: Count
    latencies: Seconds
    time: Seconds
    bubble: Share


def batch_cuts(run: Run, sequences: Count, size: Bytes) -> tuple[BatchCut, ...]:
    """Return about six cuts of a batch of `sequences`, whose hidden states are `size` bytes.

    The ranks of tensor and context parallelism send one share each.
    """
    plan = run.plan
    rank = rank_rates(run.cluster, run.training)
    hop = stage_hops(rank, plan).slowest
    hop_args = (hop.bandwidth, hop.nodes, rank.network)
    share = plan.tensor_parallel * plan.context_parallel
    counts = [count for count in range(1, sequences + 1) if sequences % count == 0]
    return tuple(
        BatchCut(
            num_microbatches=count,
            sequences=sequences // count,
            latencies=2 * count * send_time(0.0, *hop_args),
            time=2 * count * send_time(size / count / share, *hop_args),
            bubble=bubble_share(plan.pipeline_parallel, count),
        )
        for count in counts[:: -(-len(counts) // _MOST)]
    )
