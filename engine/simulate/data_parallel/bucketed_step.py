"""A DDP step on two streams: backward pass by tensor, overlapped with bucket all-reduces."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.hardware import GPUS
from engine.catalog.models import Model
from engine.catalog.reader_constants import parse_constants
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds, Tokens
from engine.run.parallelism import Cluster, GradientPrecision, Plan, Training
from engine.run.run import Run
from engine.run.software import GRADIENT_BYTES
from engine.simulate.data_parallel.gradient_buckets import (
    GradientBucket,
    backward_order,
    backward_shares,
    pack_buckets,
)
from engine.simulate.layer.device_model import RankRates, rank_group, rank_rates
from engine.simulate.step.sharding_time import lengthened_pass
from engine.simulate.step.stage_time import layer_costs
from engine.simulate.step.step_time import StepTime, pipeline_cost, replica_cost, step_from_costs
from engine.simulate.streams.exposed_time import SpanPart, split_spans
from engine.simulate.streams.stream_account import StepAccount, step_account
from engine.simulate.streams.streams import (
    COMPUTE,
    NETWORK,
    OpSpan,
    StreamOp,
    program_length,
    run_program,
)
from engine.simulate.streams.workload import CollectiveGroup, nccl_group

_NODE: Count = 8
_ROUNDING: Ratio = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketedJob:
    """A job of plain data parallelism in PyTorch, on nodes of eight GPUs.

    Attributes:
        model: all of it on every GPU.
        gpu: key of the catalog.
        world_size: GPUs.
        ports_per_node, port: the network; speed of a port, one way.
        tokens: in the forward and backward pass of one GPU.
        gradient: type of a gradient on the wire.
        cap, first: limits of the buckets; `first` 0: like the others.
        ready: packed in the order of the backward pass.
        overlap: reduced as they are ready, not after the backward pass.
        slow_down: computation takes so much longer beside an all-reduce; 0: as in the step model,
            where it depends on the bytes.
        own_constants: text of constants that were measured on these GPUs; empty: the catalog's.
    """

    model: Model
    gpu: str
    world_size: Count
    ports_per_node: Count
    port: Bandwidth
    tokens: Tokens
    gradient: GradientPrecision
    cap: Bytes
    first: Bytes = 0.0
    ready: bool = True
    overlap: bool = True
    slow_down: Ratio = 0.0
    own_constants: str = ""

    @property
    def element(self) -> Bytes:
        """Bytes of a gradient on the wire."""
        return GRADIENT_BYTES[self.gradient]


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketedStep:
    """A simulated DDP step.

    Attributes:
        buckets: in the order of their all-reduces.
        spans: of every operation.
        account: their account, the optimizer and the host included.
        backward: alone.
        contention: what hiding costs the computation.
        isolated: all all-reduces one after the other.
        tail: from the end of the backward pass to the last sum.
        output_first: how much later the step ends because the products of the output layer come
            first and fill one bucket, or none where it is the embedding too.
        estimate: of the step model: equal buckets at PyTorch's limits, full at equal intervals.
    """

    buckets: tuple[GradientBucket, ...]
    spans: tuple[OpSpan, ...]
    account: StepAccount
    backward: Seconds
    contention: Seconds
    isolated: Seconds
    tail: Seconds
    output_first: Seconds
    estimate: StepTime

    @property
    def parts(self) -> tuple[SpanPart, ...]:
        """The spans, communication cut where it stops or starts to be hidden."""
        return split_spans(self.spans)


def bucketed_run(job: BucketedJob) -> Run:
    """Return the job as a run; one with overlap, or with all gradients after the backward pass."""
    return Run(
        model=job.model,
        cluster=Cluster(
            gpu=GPUS[job.gpu],
            gpus_per_node=_NODE,
            nics_per_node=job.ports_per_node,
            nic_bandwidth=job.port,
            own_constants=parse_constants(job.own_constants),
        ),
        plan=Plan(world_size=job.world_size, zero_stage=0),
        training=Training(
            micro_batch_size=1,
            global_batch_size=job.world_size,
            sequence_length=round(job.tokens),
            framework="fsdp",
            gradient_precision=job.gradient,
            overlap_gradient_reduce=job.overlap,
        ),
    )


@lru_cache(maxsize=64)
def simulate_bucketed_step(job: BucketedJob) -> BucketedStep:
    """Return the simulated DDP step of a job, with passes and collectives of the step model."""
    run = bucketed_run(job)
    model, plan, training = run.model, run.plan, run.training
    rank = rank_rates(run.cluster, training)
    cost = pipeline_cost(model, plan, training, layer_costs(model, plan, training, rank))
    replicas = replica_cost(model, plan, training, rank, cost.weights)
    estimate = step_from_costs(model, plan, training, rank, cost, replicas)
    forward, backward = cost.slowest.forward, cost.slowest.total - cost.slowest.forward
    slower = backward
    if job.overlap and not job.slow_down:
        slower = lengthened_pass(rank, cost.weights, (job.element, backward))
    buckets = pack_buckets(model, job.element, job.cap, job.first, ready=job.ready)
    compute_ops = _compute_ops(model, forward, slower)
    reduce_ops = _reduce_ops(job, rank, buckets, compute_ops)
    after = (*reduce_ops, *_closing_ops(estimate, reduce_ops[-1].key))
    spans = run_program([*compute_ops, *after])
    even = program_length([*_compute_ops(model, forward, slower, output=False), *after])
    ends = {span.op.key: span.end for span in spans}
    account = step_account(spans)
    return BucketedStep(
        buckets=buckets,
        spans=spans,
        account=account,
        backward=backward,
        contention=account.contention + slower - backward,
        isolated=sum(op.time for op in reduce_ops),
        tail=max(0.0, ends[reduce_ops[-1].key] - ends[compute_ops[-1].key]),
        output_first=late if (late := account.length - even) > _ROUNDING * even else 0.0,
        estimate=estimate,
    )


def _compute_ops(
    model: Model, forward: Seconds, backward: Seconds, *, output: bool = True
) -> list[StreamOp]:
    tensors, shares = backward_order(model), backward_shares(model, output=output)
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
    job: BucketedJob,
    rank: RankRates,
    plan_buckets: Sequence[GradientBucket],
    computing: Sequence[StreamOp],
) -> list[StreamOp]:
    wire: CollectiveGroup = nccl_group(rank, rank_group(rank, job.world_size, 1, "data"))
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


def _closing_ops(estimate: StepTime, last: str) -> list[StreamOp]:
    """Return the optimizer, and what else a step takes, behind the last sum."""
    return [
        StreamOp(
            key="update", stream=COMPUTE, time=estimate.optimizer, after=(last,), label="optimizer"
        ),
        StreamOp(
            key="other",
            stream=COMPUTE,
            time=estimate.other,
            after=("update",),
            label="host, and waiting for the slowest GPU",
        ),
    ]
