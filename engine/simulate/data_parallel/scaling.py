"""A data-parallel step on n GPUs of eight to a node, for scaling curves."""

from dataclasses import dataclass

from engine.core.units import (
    Bandwidth,
    Bytes,
    Count,
    FlopRate,
    Parameters,
    Ratio,
    Seconds,
    Share,
    Tokens,
)
from engine.formulas.overlap import backward_time, bucket_count, compute_time, exposed_time
from engine.formulas.scaling import blocking_step, real_step, scaling_efficiency
from engine.formulas.stragglers import slowest_with_one_slow
from engine.formulas.transfer_time import all_reduce_time

GPUS_PER_NODE = 8
ELEMENT: Bytes = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingJob:
    """A data-parallel job whose scaling is computed.

    Attributes:
        parameters: of the model, all on every GPU; gradients in 16 bits.
        peak: of a GPU.
        utilization: of the peak, while computing.
        micro_batch: tokens of a pass; gradients are reduced behind the last backward pass.
        overlap: whether buckets are reduced behind it.
        bucket: the largest.
        port: speed of one network port, one way.
        ports_per_node: of eight GPUs.
        scale_up: of the link inside a node, per GPU, one way, as a ring reaches it.
        deviation: standard deviation of a GPU's computing time, of its mean.
        slower: by which one GPU is slower.
    """

    parameters: Parameters
    peak: FlopRate
    utilization: Share
    micro_batch: Tokens
    overlap: bool
    bucket: Bytes
    port: Bandwidth
    ports_per_node: Count
    scale_up: Bandwidth
    deviation: Share
    slower: Share

    @property
    def compute_rate(self) -> FlopRate:
        """FLOP rate of a GPU."""
        return self.utilization * self.peak

    def bandwidth(self, num_gpus: Count) -> Bandwidth:
        """Return the bus bandwidth over n GPUs: the node's link, or its ports together."""
        if num_gpus <= GPUS_PER_NODE:
            return self.scale_up
        return min(self.scale_up, self.ports_per_node * self.port)

    def slowest(self, num_gpus: Count) -> Ratio:
        """Return the expected slowest of n compute times relative to their mean."""
        return slowest_with_one_slow(num_gpus, self.deviation, self.slower)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingPoint:
    """A data-parallel step on n GPUs.

    Attributes:
        tokens: per GPU.
        compute: of a GPU that waits for none.
        communication: the all-reduce of all buckets, alone.
        exposed: what the step waits for it.
        slowest: of n computing times, over the mean one.
    """

    tokens: Tokens
    compute: Seconds
    communication: Seconds
    exposed: Seconds
    slowest: Ratio

    @property
    def straggler_wait(self) -> Seconds:
        """Waiting time for the slowest GPU."""
        return (self.slowest - 1) * self.compute

    @property
    def step(self) -> Seconds:
        """Step time: slowest computation plus exposed communication."""
        return self.slowest * self.compute + self.exposed

    @property
    def efficiency(self) -> Share:
        """Scaling efficiency relative to one GPU."""
        return scaling_efficiency(self.compute, self.step)

    @property
    def blocking(self) -> Seconds:
        """Step time without overlap and without stragglers."""
        return blocking_step(self.compute, self.communication)

    def step_with_failures(self, goodput: Share) -> Seconds:
        """Return the step time including the cost of failures."""
        return real_step(self.compute, self.exposed, self.slowest, goodput)


def scaling_point(
    job: ScalingJob, num_gpus: Count, tokens: Tokens, slowest: Ratio | None = None
) -> ScalingPoint:
    """Return the step with `tokens` on each GPU; `slowest` saves the work where it is known."""
    work = job.parameters, tokens, job.utilization, job.peak
    size = job.parameters * ELEMENT
    buckets = bucket_count(size, job.bucket) if job.overlap else 1
    nodes = -(-num_gpus // GPUS_PER_NODE)
    bucket_time = all_reduce_time(
        size / buckets, num_gpus, nodes, job.bandwidth(num_gpus), links=job.scale_up
    )
    communication = buckets * bucket_time
    passes = max(1, round(tokens / job.micro_batch))
    hidden_by = backward_time(*work) / passes if job.overlap else 0.0
    return ScalingPoint(
        tokens=tokens,
        compute=compute_time(*work),
        communication=communication,
        exposed=exposed_time(communication, hidden_by, buckets),
        slowest=job.slowest(num_gpus) if slowest is None else slowest,
    )
