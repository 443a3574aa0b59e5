"""A data-parallel step: computation, gradient all-reduce and exposed communication."""

import math
from dataclasses import dataclass

from engine.core.units import Bandwidth, Bytes, Count, FlopRate, Parameters, Seconds, Share, Tokens
from engine.formulas.overlap import (
    backward_time,
    break_even_tokens,
    bucket_count,
    efficiency,
    exposed_time,
    forward_time,
    gradient_size,
    required_bandwidth,
    step_time,
)
from engine.simulate.collectives.cluster_wires import (
    ClusterWires,
    all_reduce_time,
    effective_algorithm,
    latency_time,
    port_load,
)
from engine.simulate.streams.backward import (
    BackwardStep,
    BucketSpan,
    blocking_step,
    overlapped_step,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataParallelJob:
    """A data-parallel training job.

    Attributes:
        parameters: of the model, all on every GPU.
        element: of one gradient.
        wires: between the GPUs.
        algorithm: of the all-reduce; "auto" is NCCL's choice for each message.
        bucket: the largest, reduced as one.
        overlap: whether buckets are reduced behind the backward pass.
        zero1: whether the optimizer's states are sharded and parameters gathered during the next
            forward pass.
        tokens: in one forward and backward pass of a GPU.
        accumulation: micro-batches per step; only the last one's backward pass hides anything.
        utilization: of the peak, while computing.
        peak: of the GPU.
    """

    parameters: Parameters
    element: Bytes
    wires: ClusterWires
    algorithm: str
    bucket: Bytes
    overlap: bool
    zero1: bool
    tokens: Tokens
    accumulation: Count
    utilization: Share
    peak: FlopRate


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientAllReduce:
    """Isolated gradient all-reduce of a step, independent of the number of tokens.

    Attributes:
        size: of the gradients.
        algorithm: of a message.
        collective: all-reduce of the whole gradient in one piece.
        latency_part: of that.
        num_buckets: that the gradient is cut into.
        communication: all of them, each with its own latencies, if they ran alone.
    """

    size: Bytes
    algorithm: str
    collective: Seconds
    latency_part: Seconds
    num_buckets: Count
    communication: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPasses:
    """Compute time and exposed communication of a step at some number of tokens."""

    forward: Seconds
    backward: Seconds
    compute: Seconds
    exposed: Seconds
    ideal_exposed: Seconds

    @property
    def step(self) -> Seconds:
        """Step time: computation plus exposed communication."""
        return step_time(self.compute, self.exposed)

    @property
    def efficiency(self) -> Share:
        """Compute share of the step."""
        return efficiency(self.compute, self.exposed)

    @property
    def ideal_efficiency(self) -> Share:
        """Compute share with infinitely small buckets without latency."""
        return efficiency(self.compute, self.ideal_exposed)


def gradient_all_reduce(job: DataParallelJob) -> GradientAllReduce:
    """Return the all-reduce of the job's gradients."""
    size = gradient_size(job.parameters, job.element)
    buckets = bucket_count(size, job.bucket)
    # NCCL chooses for the message that is sent: a bucket, unless nothing overlaps.
    message = size / buckets if job.overlap else size
    name = job.algorithm
    if name == "auto":
        name = effective_algorithm(job.wires, name, message)
    collective = all_reduce_time(job.wires, job.algorithm, size)
    bucket_time = all_reduce_time(job.wires, job.algorithm, size / buckets)
    return GradientAllReduce(
        size=size,
        algorithm=name,
        collective=collective,
        latency_part=latency_time(job.wires, job.algorithm, size),
        num_buckets=buckets,
        communication=buckets * bucket_time if job.overlap else collective,
    )


def step_passes(job: DataParallelJob, sync: GradientAllReduce, tokens: Tokens) -> StepPasses:
    """Return compute time and exposed communication with `tokens` per GPU."""
    work = job.parameters, tokens, job.utilization, job.peak
    forward, backward = forward_time(*work), backward_time(*work)
    exposed = ideal = sync.collective
    if job.overlap:
        exposed = _exposed_time(job, sync, forward, backward)
        windows = (forward, backward) if job.zero1 else (backward,)
        part = sync.collective / len(windows)
        ideal = sum((max(0.0, part - window) for window in windows), 0.0)
    return StepPasses(
        forward=forward,
        backward=backward,
        compute=job.accumulation * (forward + backward),
        exposed=exposed,
        ideal_exposed=ideal,
    )


def _exposed_time(
    job: DataParallelJob, sync: GradientAllReduce, forward: Seconds, backward: Seconds
) -> Seconds:
    if not job.zero1:
        return exposed_time(sync.communication, backward, sync.num_buckets)
    # ZeRO-1 cuts the all-reduce in two: gradients are reduce-scattered behind the backward pass,
    # parameters gathered behind the next forward pass, in which the first bucket must be there
    # before its layer starts: the mirror image of the last bucket of the backward pass.
    half = sync.communication / 2
    backward_exposed = exposed_time(half, backward, sync.num_buckets)
    return backward_exposed + exposed_time(half, forward, sync.num_buckets)


def job_step_time(job: DataParallelJob) -> Seconds:
    """Return the step time of the job."""
    return step_passes(job, gradient_all_reduce(job), job.tokens).step


def break_even(job: DataParallelJob, sync: GradientAllReduce) -> Tokens:
    """Return the tokens per GPU at which the backward pass is as long as the all-reduce.

    Infinite for a single bucket: it starts when the backward pass ends, so nothing hides it.
    """
    if sync.num_buckets == 1:
        return math.inf
    return break_even_tokens(sync.collective, job.parameters, job.utilization, job.peak)


def required_port(job: DataParallelJob, sync: GradientAllReduce, backward: Seconds) -> Bandwidth:
    """Return the port bandwidth (in one node: link bandwidth) that hides the all-reduce.

    Latencies are left out. Infinite if no port can: the part inside the node alone outlasts the
    backward pass.
    """
    load = port_load(job.wires, sync.algorithm, sync.size)
    return required_bandwidth(load.sent, backward, load.wait)


@dataclass(frozen=True, slots=True, kw_only=True)
class Zero1Streams:
    """A ZeRO-1 step on two streams: all-gather in the forward pass, reduce-scatter in backward.

    Attributes:
        gather: spans in the order of time, from 0; backward spans stand for the forward pass.
        gathered: when the forward pass ends.
        scatter: spans from the end of the forward pass on, counted from there.
        total: of the step.
    """

    gather: tuple[BucketSpan, ...]
    gathered: Seconds
    scatter: tuple[BucketSpan, ...]
    total: Seconds


def zero_1_streams(sync: GradientAllReduce, step: StepPasses, *, groups: Count = 6) -> Zero1Streams:
    """Return the ZeRO-1 step on two streams.

    The gather mirrors the scatter in time, so it is the same simulation played backwards.
    """
    bucket = sync.communication / sync.num_buckets / 2
    gather = overlapped_step(0.0, step.forward, sync.num_buckets, bucket, groups=groups)
    scatter = overlapped_step(0.0, step.backward, sync.num_buckets, bucket, groups=groups)
    mirrored = tuple(
        BucketSpan(
            stream=span.stream,
            start=gather.total - span.end,
            end=gather.total - span.start,
            busy=span.busy,
            label=span.label,
        )
        for span in reversed(gather.spans[1:])
    )
    return Zero1Streams(
        gather=mirrored,
        gathered=gather.total,
        scatter=scatter.spans[1:],
        total=gather.total + scatter.total,
    )


def step_streams(
    job: DataParallelJob, sync: GradientAllReduce, step: StepPasses, *, groups: Count = 12
) -> BackwardStep:
    """Return the last micro-batch of the step on two streams, buckets drawn in groups."""
    run = overlapped_step if job.overlap else blocking_step
    bucket = sync.communication / sync.num_buckets
    return run(step.forward, step.backward, sync.num_buckets, bucket, groups=groups)
