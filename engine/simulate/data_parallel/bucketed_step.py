"""A DDP step on two streams: backward pass by tensor, overlapped with bucket all-reduces."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.hardware import GPUS
from engine.catalog.models import Model
from engine.catalog.reader_constants import parse_constants
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds, Share, Tokens
from engine.formulas.overlap import backward_time, forward_time
from engine.formulas.parameters import total_parameters
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.data_parallel.gradient_buckets import (
    GradientBucket,
    backward_order,
    backward_shares,
    pack_buckets,
)
from engine.simulate.layer.device_model import rank_group, rank_rates
from engine.simulate.step.sharding_time import RankWeights, optimizer_time
from engine.simulate.streams.exposed_time import SpanPart, split_spans
from engine.simulate.streams.stream_account import StepAccount, step_account
from engine.simulate.streams.streams import COMPUTE, NETWORK, OpSpan, StreamOp, run_program
from engine.simulate.streams.workload import CollectiveGroup, nccl_group


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketedJob:
    """A job of plain data parallelism.

    Attributes:
        model: all of it on every GPU.
        gpu: key of the catalog.
        world_size: GPUs.
        gpus_per_node, ports_per_node, port: the machine; speed of a port, one way.
        tokens: in the forward and backward pass of one GPU.
        utilization: of the peak, while nothing else runs.
        element: bytes of a gradient.
        cap, first: limits of the buckets; `first` 0: like the others.
        ready: packed in the order of the backward pass.
        overlap: reduced as they are ready, not after the backward pass.
        slow_down: computation takes so much longer beside an all-reduce.
        own: text of constants that were measured on these GPUs; empty: the catalog's.
    """

    model: Model
    gpu: str
    world_size: Count
    gpus_per_node: Count
    ports_per_node: Count
    port: Bandwidth
    tokens: Tokens
    utilization: Share
    element: Bytes
    cap: Bytes
    first: Bytes = 0.0
    ready: bool = True
    overlap: bool = True
    slow_down: Ratio = 0.0
    own: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketedStep:
    """A simulated DDP step.

    Attributes:
        buckets: in the order of their all-reduces.
        spans: of every operation.
        account: their account, the optimizer included.
        forward, backward: alone.
        optimizer: the update.
        isolated: all all-reduces one after the other.
        tail: from the end of the backward pass to the last sum.
    """

    buckets: tuple[GradientBucket, ...]
    spans: tuple[OpSpan, ...]
    account: StepAccount
    forward: Seconds
    backward: Seconds
    optimizer: Seconds
    isolated: Seconds
    tail: Seconds

    @property
    def parts(self) -> tuple[SpanPart, ...]:
        """The spans, communication cut where it stops or starts to be hidden."""
        return split_spans(self.spans)


def all_reduce_wire(job: BucketedJob) -> CollectiveGroup:
    """Return the link model of the all-reduces."""
    cluster, training, _ = _cluster_training_plan(job)
    rank = rank_rates(cluster, training)
    group = rank_group(rank, job.world_size, 1)
    return nccl_group(rank, group)


def _cluster_training_plan(job: BucketedJob) -> tuple[Cluster, Training, Plan]:
    cluster = Cluster(
        gpu=GPUS[job.gpu],
        gpus_per_node=job.gpus_per_node,
        nics_per_node=job.ports_per_node,
        nic_bandwidth=job.port,
        own=parse_constants(job.own),
    )
    training = Training(
        micro_batch_size=1,
        global_batch_size=job.world_size,
        sequence_length=round(job.tokens),
    )
    return cluster, training, Plan(world_size=job.world_size, zero_stage=0)


@lru_cache(maxsize=64)
def simulate_bucketed_step(job: BucketedJob) -> BucketedStep:
    """Return the simulated DDP step of a job."""
    model, gpu = job.model, GPUS[job.gpu]
    work = total_parameters(model), job.tokens, job.utilization, gpu.peak["bf16"]
    forward, backward = forward_time(*work), backward_time(*work)
    buckets = pack_buckets(model, job.element, job.cap, job.first, ready=job.ready)
    compute_ops = _compute_ops(model, forward, backward)
    reduce_ops = _reduce_ops(job, buckets, compute_ops)
    optimizer = _optimizer_time(job)
    after = (reduce_ops[-1].key, compute_ops[-1].key)
    update = StreamOp(key="update", stream=COMPUTE, time=optimizer, after=after, label="optimizer")
    spans = run_program([*compute_ops, *reduce_ops, update])
    ended = next(span.end for span in spans if span.op.key == compute_ops[-1].key)
    reduced = next(span.end for span in spans if span.op.key == reduce_ops[-1].key)
    return BucketedStep(
        buckets=buckets,
        spans=spans,
        account=step_account(spans),
        forward=forward,
        backward=backward,
        optimizer=optimizer,
        isolated=sum(op.time for op in reduce_ops),
        tail=max(0.0, reduced - ended),
    )


def _compute_ops(model: Model, forward: Seconds, backward: Seconds) -> list[StreamOp]:
    tensors, shares = backward_order(model), backward_shares(model)
    return [
        StreamOp(key="forward", stream=COMPUTE, time=forward, label="forward"),
        *(
            StreamOp(
                key=f"B{index}",
                stream=COMPUTE,
                time=backward * share,
                label=f"backward, {tensor.title}",
                links=(f"layer:{tensor.layer}",),
            )
            for index, (tensor, share) in enumerate(zip(tensors, shares, strict=True))
        ),
    ]


def _reduce_ops(
    job: BucketedJob, plan_buckets: Sequence[GradientBucket], computing: Sequence[StreamOp]
) -> list[StreamOp]:
    wire = all_reduce_wire(job)
    ops = []
    for bucket in plan_buckets:
        size = bucket.parameters * job.element
        ready = f"B{bucket.ready}" if job.overlap else computing[-1].key
        ops.append(
            StreamOp(
                key=f"bucket {bucket.number}",
                stream=NETWORK,
                time=wire.all_reduce(size),
                after=(ready,),
                label=f"bucket {bucket.number}",
                size=wire.sent(size),
                slowdown=job.slow_down,
                links=(f"bucket:{bucket.number}",),
            )
        )
    return ops


def _optimizer_time(job: BucketedJob) -> Seconds:
    cluster, training, plan = _cluster_training_plan(job)
    weights = RankWeights(common=total_parameters(job.model), experts=0.0)
    return optimizer_time(plan, training, rank_rates(cluster, training), weights)
