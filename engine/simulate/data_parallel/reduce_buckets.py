"""Gradient buckets of one backward pass: number, reduction time and exposed time.

A textbook bound, with a backward pass at a typed share of the peak and no contention; beside it
the estimate's wait for the same buckets.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

from engine.catalog.hardware import GPUS
from engine.catalog.reader_constants import parse_constants
from engine.core.units import Bandwidth, Bytes, Count, Parameters, Seconds, Share, Tokens
from engine.formulas.overlap import backward_time
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.data_parallel.dense_shape import dense_shape
from engine.simulate.layer.device_model import RankRates, rank_group, rank_rates
from engine.simulate.step.sharding_time import DataParallelExchange, RankWeights
from engine.simulate.step.stage_time import layer_costs
from engine.simulate.step.step_time import pipeline_cost, replica_cost, step_from_costs
from engine.simulate.streams.workload import CollectiveGroup, nccl_group

GRADIENT: Bytes = 2.0
_PER_NODE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketJob:
    """One backward pass under ZeRO, nodes of eight GPUs with a port each.

    Attributes:
        parameters: of the model.
        bucket: elements of a bucket.
        tokens: of the micro-batch.
        utilization: of the peak, while computing.
        gpu: key of the catalog.
        ranks: GPUs.
        port: line rate of each, one way.
        whole: an all-reduce instead of a reduce-scatter.
        overlap: reductions run beside the backward pass.
        own_constants: text of constants that were measured on these GPUs; empty: the catalog's.
    """

    parameters: Parameters
    bucket: Parameters
    tokens: Tokens
    utilization: Share
    gpu: str
    ranks: Count
    port: Bandwidth
    whole: bool = False
    overlap: bool = True
    own_constants: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketTimes:
    """Times of one bucket: gradients ready, reduction start and end."""

    ready: Seconds
    start: Seconds
    end: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketedBackward:
    """Times of a backward pass with bucketed reductions.

    Attributes:
        count: buckets.
        backward: the pass alone.
        computing: what a full bucket (or the only one) takes to compute.
        sending: and to reduce.
        isolated: all reductions.
        exposed: of them, with nothing computed.
        buffers: allocated for buckets; two of them where one fills while the other is sent.
    """

    count: Count
    backward: Seconds
    computing: Seconds
    sending: Seconds
    isolated: Seconds
    exposed: Seconds
    buffers: Bytes


def _cluster(job: BucketJob) -> Cluster:
    return Cluster(
        gpu=GPUS[job.gpu],
        gpus_per_node=_PER_NODE,
        nics_per_node=_PER_NODE,
        nic_bandwidth=job.port,
        own_constants=parse_constants(job.own_constants),
    )


def _training(job: BucketJob) -> Training:
    return Training(
        micro_batch_size=1,
        global_batch_size=job.ranks,
        sequence_length=max(1, round(job.tokens)),
        framework="deepspeed",
        gradient_precision="bf16",
        overlap_gradient_reduce=job.overlap,
    )


def reduction_wire(job: BucketJob) -> CollectiveGroup:
    """Return the link model of the reductions."""
    rank = rank_rates(_cluster(job), _training(job))
    return nccl_group(rank, rank_group(rank, job.ranks, 1))


def composed_wait(job: BucketJob) -> Seconds:
    """Return what a step of the estimate waits for the reductions, contention included.

    A dense model of so many parameters under ZeRO-2; buckets are equal, and the embedding has one
    of its own behind the backward pass. DeepSpeed all-reduces them unasked, as the estimate does.
    """
    model, training = dense_shape(job.parameters), _training(job)
    plan = Plan(world_size=job.ranks, zero_stage=2)
    rank = rank_rates(_cluster(job), training)
    rank = replace(rank, software=replace(rank.software, bucket=job.bucket))
    cost = pipeline_cost(model, plan, training, layer_costs(model, plan, training, rank))
    replicas = replica_cost(model, plan, training, rank, cost.weights)
    replicas = replace(replicas, exchange=_as_asked(job, rank, cost.weights, replicas.exchange))
    step = step_from_costs(model, plan, training, rank, cost, replicas)
    # DeepSpeed gathers updated parameters when the step is over: no part of the reductions.
    return step.data_parallel - replicas.exchange.gather


def _as_asked(
    job: BucketJob, rank: RankRates, weights: RankWeights, exchange: DataParallelExchange
) -> DataParallelExchange:
    """Return the exchange with all-reduces or reduce-scatters, as the job says."""
    wire = nccl_group(rank, rank_group(rank, job.ranks, 1, "data"))
    reduce = wire.all_reduce if job.whole else wire.scatter
    last = GRADIENT * weights.embedding if job.overlap else 0.0
    bucket = (GRADIENT * weights.total - last) / exchange.units
    last_time = reduce(last)
    return replace(
        exchange, scatter=exchange.units * reduce(bucket) + last_time, last_reduce=last_time
    )


def bucketed_backward(job: BucketJob) -> BucketedBackward:
    """Return the times of the backward pass in closed form; all but the last bucket are equal.

    The last end is the latest of: all reductions from the first bucket on, the last full bucket
    and what follows it, the rest that is complete when the pass ends. Agrees with `bucket_times`.
    """
    backward = _backward(job)
    full, last_bucket, sizes = _split_buckets(job)
    send = _send_time(job)
    each, last = send(min(job.bucket, job.parameters)), send(last_bucket)
    first = backward * sizes / job.parameters
    isolated = full * each + last
    end = isolated + backward
    if job.overlap:
        final = backward * full * job.bucket / job.parameters
        ends = [first + isolated, backward + (last if last_bucket else each)]
        end = max(*ends, final + each + last if full else 0.0)
    return BucketedBackward(
        count=full + (last_bucket > 0),
        backward=backward,
        computing=first,
        sending=each,
        isolated=isolated,
        exposed=end - backward,
        buffers=GRADIENT * job.bucket * (2 if job.overlap else 1),
    )


def bucket_times(job: BucketJob) -> tuple[BucketTimes, ...]:
    """Return the times of every bucket, overlapped or blocking."""
    backward, send = _backward(job), _send_time(job)
    done, free, stalled = 0.0, 0.0, 0.0
    each = send(job.bucket)
    times: list[BucketTimes] = []
    while done < job.parameters:
        size = min(job.bucket, job.parameters - done)
        done += size
        ready = backward * done / job.parameters + stalled
        start = max(ready, free)
        free = start + (each if size == job.bucket else send(size))
        stalled += 0.0 if job.overlap else free - start
        times.append(BucketTimes(ready=ready, start=start, end=free))
    return tuple(times)


def _split_buckets(job: BucketJob) -> tuple[Count, Parameters, Parameters]:
    """Return the number of full buckets, and the elements of the last and the first one."""
    count = ceil(job.parameters / job.bucket)
    last_bucket = job.parameters - (count - 1) * job.bucket
    if last_bucket == job.bucket:
        return count, 0.0, job.bucket
    return count - 1, last_bucket, min(job.bucket, job.parameters)


def _backward(job: BucketJob) -> Seconds:
    peak = GPUS[job.gpu].peak["bf16"]
    return backward_time(job.parameters, job.tokens, job.utilization, peak)


def _send_time(job: BucketJob) -> Callable[[Parameters], Seconds]:
    wire = reduction_wire(job)
    reduce = wire.all_reduce if job.whole else wire.scatter
    return lambda elements: reduce(GRADIENT * elements)
