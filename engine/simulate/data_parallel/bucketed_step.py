"""One step of DDP on two streams: the backward pass tensor by tensor, buckets reduced behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.hardware import GPUS
from engine.catalog.models import Model
from engine.catalog.reader_constants import parse
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds, Share, Tokens
from engine.formulas.overlap import backward_time, forward_time
from engine.formulas.parameters import total_parameters
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.data_parallel.gradient_buckets import Bucket, packed, ready_order, work_shares
from engine.simulate.layer.device_model import group_of, rank_of
from engine.simulate.step.sharding_time import Weights, optimizer_time
from engine.simulate.streams.exposed_time import Part, parts
from engine.simulate.streams.stream_account import Account, account
from engine.simulate.streams.streams import COMPUTE, NETWORK, Op, Span, run
from engine.simulate.streams.workload import Wire, nccl_wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
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
class Bucketed:
    """A step that ran.

    Attributes:
        buckets: in the order of their all-reduces.
        spans: of every operation.
        seen: their account, the optimizer included.
        forward, backward: alone.
        optimizer: the update.
        isolated: all all-reduces one after the other.
        tail: from the end of the backward pass to the last sum.
    """

    buckets: tuple[Bucket, ...]
    spans: tuple[Span, ...]
    seen: Account
    forward: Seconds
    backward: Seconds
    optimizer: Seconds
    isolated: Seconds
    tail: Seconds

    @property
    def parts(self) -> tuple[Part, ...]:
        """The spans, communication cut where it stops or starts to be hidden."""
        return parts(self.spans)


def wire_of(setting: Setting) -> Wire:
    """Return what carries the all-reduces."""
    cluster, training, _ = _job(setting)
    rank = rank_of(cluster, training)
    group = group_of(rank, setting.world_size, 1)
    return nccl_wire(group.ranks, group.nodes, group.bandwidth, rank.scale_up)


def _job(setting: Setting) -> tuple[Cluster, Training, Plan]:
    cluster = Cluster(
        gpu=GPUS[setting.gpu],
        gpus_per_node=setting.gpus_per_node,
        nics_per_node=setting.ports_per_node,
        nic_bandwidth=setting.port,
        own=parse(setting.own),
    )
    training = Training(
        micro_batch_size=1,
        global_batch_size=setting.world_size,
        sequence_length=round(setting.tokens),
    )
    return cluster, training, Plan(world_size=setting.world_size, zero_stage=0)


@lru_cache(maxsize=64)
def bucketed(setting: Setting) -> Bucketed:
    """Return the step."""
    model, gpu = setting.model, GPUS[setting.gpu]
    work = total_parameters(model), setting.tokens, setting.utilization, gpu.peak["bf16"]
    forward, backward = forward_time(*work), backward_time(*work)
    plan = packed(model, setting.element, setting.cap, setting.first, ready=setting.ready)
    computing = _computing(model, forward, backward)
    reducing = _reducing(setting, plan, computing)
    optimizer = _optimizer(setting)
    after = (reducing[-1].key, computing[-1].key)
    update = Op(key="update", stream=COMPUTE, time=optimizer, after=after, label="optimizer")
    spans = run([*computing, *reducing, update])
    ended = next(span.end for span in spans if span.op.key == computing[-1].key)
    reduced = next(span.end for span in spans if span.op.key == reducing[-1].key)
    return Bucketed(
        buckets=plan,
        spans=spans,
        seen=account(spans),
        forward=forward,
        backward=backward,
        optimizer=optimizer,
        isolated=sum(op.time for op in reducing),
        tail=max(0.0, reduced - ended),
    )


def _computing(model: Model, forward: Seconds, backward: Seconds) -> list[Op]:
    tensors, shares = ready_order(model), work_shares(model)
    return [
        Op(key="forward", stream=COMPUTE, time=forward, label="forward"),
        *(
            Op(
                key=f"B{at}",
                stream=COMPUTE,
                time=backward * share,
                label=f"backward, {tensor.title}",
                links=(f"layer:{tensor.layer}",),
            )
            for at, (tensor, share) in enumerate(zip(tensors, shares, strict=True))
        ),
    ]


def _reducing(setting: Setting, plan: Sequence[Bucket], computing: Sequence[Op]) -> list[Op]:
    wire = wire_of(setting)
    found = []
    for bucket in plan:
        size = bucket.parameters * setting.element
        ready = f"B{bucket.ready}" if setting.overlap else computing[-1].key
        found.append(
            Op(
                key=f"bucket {bucket.number}",
                stream=NETWORK,
                time=wire.all_reduce(size),
                after=(ready,),
                label=f"bucket {bucket.number}",
                size=wire.sent(size),
                slows=setting.slow_down,
                links=(f"bucket:{bucket.number}",),
            )
        )
    return found


def _optimizer(setting: Setting) -> Seconds:
    cluster, training, plan = _job(setting)
    weights = Weights(common=total_parameters(setting.model), experts=0.0)
    return optimizer_time(plan, training, rank_of(cluster, training), weights)
