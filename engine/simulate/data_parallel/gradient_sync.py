"""One data-parallel step: its computation, the all-reduce of its gradients, and what waits."""

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
    Wires,
    all_reduce_time,
    fastest,
    latency_part,
    port_load,
)
from engine.simulate.streams.backward import Span, Step, blocking, overlapped


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A step of data parallelism.

    Attributes:
        parameters: of the model, all on every GPU.
        element: of one gradient.
        wires: between the GPUs.
        algorithm: of the all-reduce; "auto" is the fastest that needs no switch's help.
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
    wires: Wires
    algorithm: str
    bucket: Bytes
    overlap: bool
    zero1: bool
    tokens: Tokens
    accumulation: Count
    utilization: Share
    peak: FlopRate


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The all-reduce of a step by itself, alike for any number of tokens.

    Attributes:
        size: of the gradients.
        algorithm: in use.
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
class Passes:
    """What a step computes and what it then waits for, at some number of tokens."""

    forward: Seconds
    backward: Seconds
    compute: Seconds
    exposed: Seconds
    ideal_exposed: Seconds

    @property
    def step(self) -> Seconds:
        """Computation plus what it waits for."""
        return step_time(self.compute, self.exposed)

    @property
    def efficiency(self) -> Share:
        """The share of the step that computes."""
        return efficiency(self.compute, self.exposed)

    @property
    def ideal_efficiency(self) -> Share:
        """The same if buckets were as small as one likes and had no latency."""
        return efficiency(self.compute, self.ideal_exposed)


def moved(job: Job) -> Moved:
    """Return the all-reduce of the job's gradients."""
    size = gradient_size(job.parameters, job.element)
    buckets = bucket_count(size, job.bucket)
    # As NCCL does, chosen for the message that is sent: a bucket, unless nothing overlaps.
    message = size / buckets if job.overlap else size
    name = fastest(job.wires, message) if job.algorithm == "auto" else job.algorithm
    collective = all_reduce_time(job.wires, name, size)
    one = all_reduce_time(job.wires, name, size / buckets)
    return Moved(
        size=size,
        algorithm=name,
        collective=collective,
        latency_part=latency_part(job.wires, name, size),
        num_buckets=buckets,
        communication=buckets * one if job.overlap else collective,
    )


def passes(job: Job, sync: Moved, tokens: Tokens) -> Passes:
    """Return the step's times with `tokens` per GPU; the all-reduce is the same for any number."""
    work = job.parameters, tokens, job.utilization, job.peak
    forward, backward = forward_time(*work), backward_time(*work)
    exposed = ideal = sync.collective
    if job.overlap:
        exposed = _exposed(job, sync, forward, backward)
        windows = (forward, backward) if job.zero1 else (backward,)
        part = sync.collective / len(windows)
        ideal = sum((max(0.0, part - window) for window in windows), 0.0)
    return Passes(
        forward=forward,
        backward=backward,
        compute=job.accumulation * (forward + backward),
        exposed=exposed,
        ideal_exposed=ideal,
    )


def _exposed(job: Job, sync: Moved, forward: Seconds, backward: Seconds) -> Seconds:
    if not job.zero1:
        return exposed_time(sync.communication, backward, sync.num_buckets)
    # ZeRO-1 cuts the all-reduce in two: gradients are reduce-scattered behind the backward pass,
    # parameters gathered behind the next forward pass, in which the first bucket must be there
    # before its layer starts: the mirror image of the last bucket of the backward pass.
    half = sync.communication / 2
    behind = exposed_time(half, backward, sync.num_buckets)
    return behind + exposed_time(half, forward, sync.num_buckets)


def step_of(job: Job) -> Seconds:
    """Return the time of the job's step."""
    return passes(job, moved(job), job.tokens).step


def break_even(job: Job, sync: Moved) -> Tokens:
    """Return the tokens per GPU at which the backward pass is as long as the all-reduce.

    Infinite for a single bucket: it starts when the backward pass ends, so nothing hides it.
    """
    if sync.num_buckets == 1:
        return math.inf
    return break_even_tokens(sync.collective, job.parameters, job.utilization, job.peak)


def required_port(job: Job, sync: Moved, backward: Seconds) -> Bandwidth:
    """Return the speed of a port (in one node: of its link) that hides the all-reduce.

    Latencies are left out. Infinite if no port can: the part inside the node alone outlasts the
    backward pass.
    """
    load = port_load(job.wires, sync.algorithm, sync.size)
    return required_bandwidth(load.sent, backward, load.wait)


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """A ZeRO-1 step: gather before and behind the forward pass, scatter behind the backward pass.

    Attributes:
        gather: spans in the order of time, from 0; backward spans stand for the forward pass.
        gathered: when the forward pass ends.
        scatter: spans from the end of the forward pass on, counted from there.
        total: of the step.
    """

    gather: tuple[Span, ...]
    gathered: Seconds
    scatter: tuple[Span, ...]
    total: Seconds


def halves(sync: Moved, step: Passes, *, groups: Count = 6) -> Halves:
    """Return the step on two streams.

    The gather mirrors the scatter in time, so it is the same simulation played backwards.
    """
    bucket = sync.communication / sync.num_buckets / 2
    gather = overlapped(0.0, step.forward, sync.num_buckets, bucket, groups=groups)
    scatter = overlapped(0.0, step.backward, sync.num_buckets, bucket, groups=groups)
    mirrored = tuple(
        Span(
            stream=span.stream,
            start=gather.total - span.end,
            end=gather.total - span.start,
            busy=span.busy,
            label=span.label,
        )
        for span in reversed(gather.spans[1:])
    )
    return Halves(
        gather=mirrored,
        gathered=gather.total,
        scatter=scatter.spans[1:],
        total=gather.total + scatter.total,
    )


def streams(job: Job, sync: Moved, step: Passes, *, groups: Count = 12) -> Step:
    """Return the last micro-batch of the step on two streams, buckets drawn in groups."""
    run = overlapped if job.overlap else blocking
    bucket = sync.communication / sync.num_buckets
    return run(step.forward, step.backward, sync.num_buckets, bucket, groups=groups)
