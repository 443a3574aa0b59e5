"""The last micro-batch of a data-parallel step on two streams, its buckets drawn in groups.

In closed form, so that the work grows with the number of groups and not with that of buckets;
`engine.simulate.programs` play the same orders operation by operation.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from engine.catalog.hardware import GPUS
from engine.catalog.reader_constants import parse_constants
from engine.catalog.transports import INFINIBAND
from engine.core.record import record
from engine.core.units import Bandwidth, Bytes, Count, FlopRate, Parameters, Seconds, Share, Tokens
from engine.formulas.overlap import compute_time, gradient_size, required_bandwidth
from engine.run.parallelism import Cluster, GradientPrecision, Plan, Training
from engine.run.run import Run
from engine.run.software import DDP_BUCKET, Software
from engine.simulate.collectives.cluster_wires import (
    ClusterWires,
    all_reduce_time,
    cluster_wires,
    effective_algorithm,
    latency_time,
    port_load,
)
from engine.simulate.data_parallel.dense_shape import dense_shape
from engine.simulate.layer.device_model import RankRates, rank_rates
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.step.sharding_time import DataParallelExchange, RankWeights, lengthened_pass
from engine.simulate.step.stage_time import layer_costs
from engine.simulate.step.step_time import StepTime, pipeline_cost, replica_cost, step_from_costs

# A step with replicated parameters, or with sharded optimizer states: the estimate's step.
#
# Passes, optimizer and host are those of the step model. What a reader may ask that no software
# does unasked, an algorithm by name and buckets of another size, changes the exchange alone.

AUTO = "auto"
# Tokens of a sequence; more are more sequences of a micro-batch.
_SEQUENCE: Count = 4096
_MOST_TOKENS: Count = 2**20


@record
class SyncJob:
    """A data-parallel training job of a dense model.

    Attributes:
        parameters: of the model, all on every GPU.
        element: of one gradient on the wire.
        gpu: key of the catalog.
        world_size, gpus_per_node, ports_per_node: GPUs, those of a node, and its network ports.
        port: line rate of a port, one way.
        algorithm: of the all-reduce; "auto" is NCCL's choice for each message.
        bucket: gradients that are reduced as one; the tensor that reaches the limit closes it.
        overlap: whether buckets are reduced behind the backward pass.
        zero1: whether the optimizer's states are sharded and parameters gathered during the next
            forward pass; NCCL chooses for both, whatever `algorithm` is.
        tokens: in one forward and backward pass of a GPU.
        accumulation: micro-batches per step; only the last one's backward pass hides anything.
        latency: of a step of large messages between nodes.
        own_constants: text of constants that were measured on these GPUs; empty: the catalog's.
    """

    parameters: Parameters
    element: Bytes
    gpu: str
    world_size: Count
    gpus_per_node: Count
    ports_per_node: Count
    port: Bandwidth
    algorithm: str
    bucket: Bytes
    overlap: bool
    zero1: bool
    tokens: Tokens
    accumulation: Count
    latency: Seconds = INFINIBAND.step
    own_constants: str = ""

    @property
    def wires(self) -> ClusterWires:
        """Wires between the GPUs."""
        machine = self.world_size, self.gpus_per_node, self.ports_per_node
        return _wires(self.gpu, machine, self.port, self.latency, self.own_constants)

    @property
    def size(self) -> Bytes:
        """Gradients of the model."""
        return gradient_size(self.parameters, self.element)


@lru_cache(maxsize=256)
def _wires(
    gpu: str,
    machine: tuple[Count, Count, Count],
    port: Bandwidth,
    latency: Seconds,
    own_constants: str,
) -> ClusterWires:
    return cluster_wires(GPUS[gpu], *machine, port, latency, parse_constants(own_constants))


@record
class SyncStep:
    """Step of a job.

    Attributes:
        run: the job.
        parts: of the step.
        rank: rates of a GPU.
        weights: parameters of a GPU.
        exchange: of gradients, and of parameters in ZeRO-1, before any overlap.
        forward, backward: one pass each, alone.
    """

    run: Run
    parts: StepTime
    rank: RankRates
    weights: RankWeights
    exchange: DataParallelExchange
    forward: Seconds
    backward: Seconds

    @property
    def closing(self) -> Seconds:
        """Optimizer, host, and waiting for the slowest GPU."""
        return self.parts.optimizer + self.parts.other

    @property
    def working(self) -> Seconds:
        """All of the step but exposed communication."""
        return self.parts.compute + self.closing

    @property
    def communication(self) -> Seconds:
        """All collectives, one after the other."""
        return self.exchange.reduce + self.exchange.gather


def sync_run(job: SyncJob) -> Run:
    """Return the job as a run: PyTorch's DDP, or its kernels with sharded optimizer states.

    Gradients that are sent in 8 bits are computed in 16.
    """
    model = dense_shape(job.parameters)
    sequences = max(1, round(job.tokens / _SEQUENCE))
    types: dict[Bytes, GradientPrecision] = {2.0: "bf16", 4.0: "fp32"}
    return Run(
        model=model,
        cluster=Cluster(
            gpu=GPUS[job.gpu],
            gpus_per_node=job.gpus_per_node,
            nics_per_node=job.ports_per_node,
            nic_bandwidth=job.port,
            own_constants=parse_constants(job.own_constants),
        ),
        plan=Plan(world_size=job.world_size, zero_stage=int(job.zero1)),
        training=Training(
            micro_batch_size=sequences,
            global_batch_size=job.world_size * sequences * job.accumulation,
            sequence_length=max(1, round(job.tokens / sequences)),
            framework="fsdp",
            gradient_precision=types.get(job.element, "bf16"),
            overlap_gradient_reduce=job.overlap,
        ),
    )


@lru_cache(maxsize=1024)
def sync_step(job: SyncJob) -> SyncStep:
    """Return the step of a job."""
    run = sync_run(job)
    model, plan, training = run.model, run.plan, run.training
    rank = _rank(job, rank_rates(run.cluster, training))
    cost = pipeline_cost(model, plan, training, layer_costs(model, plan, training, rank))
    sent = replace(training, gradient_precision="") if job.element < HALF else training
    replicas = replica_cost(model, plan, sent, rank, cost.weights)
    exchange = _forced(job, cost.weights, replicas.exchange)
    replicas = replace(replicas, exchange=exchange)
    forward, backward = cost.slowest.forward, cost.slowest.total - cost.slowest.forward
    return SyncStep(
        run=run,
        parts=step_from_costs(model, plan, training, rank, cost, replicas),
        rank=rank,
        weights=cost.weights,
        exchange=exchange,
        forward=forward,
        backward=backward,
    )


def slower_passes(job: SyncJob, step: SyncStep) -> tuple[Seconds, Seconds]:
    """Return the forward and the backward pass as long as they are beside collectives."""
    forward, backward = step.forward, step.backward
    if not job.overlap:
        return forward, backward
    weights = step.weights
    if job.zero1:
        forward = lengthened_pass(step.rank, weights, (HALF, forward))
    return forward, lengthened_pass(step.rank, weights, (step.exchange.gradient, backward))


def unasked(job: SyncJob) -> SyncJob:
    """Return the job as software runs it unasked: NCCL's choice, PyTorch's buckets, 16 bits."""
    return replace(job, algorithm=AUTO, bucket=DDP_BUCKET, element=max(HALF, job.element))


def _rank(job: SyncJob, rank: RankRates) -> RankRates:
    """Return the rates of a rank with the reader's wires, type of gradients and buckets."""
    software = rank.software
    if job.element < HALF:
        software = replace(software, gradient=job.element)
    if job.bucket != DDP_BUCKET:
        software = _with_buckets(software, job.bucket)
    wires = job.wires.rank
    return replace(rank, domain=wires.domain, network=wires.network, software=software)


def _with_buckets(software: Software, bucket: Bytes) -> Software:
    """Return software whose buckets have another limit, the first one's too.

    Source: `_ddp_init_helper` of PyTorch's torch/nn/parallel/distributed.py, where the first bucket
    is small only as long as bucket_cap_mb is not set.
    """
    return replace(software, bucket_bytes=bucket, first_bucket_bytes=bucket)


def _forced(
    job: SyncJob, weights: RankWeights, exchange: DataParallelExchange
) -> DataParallelExchange:
    """Return the exchange with all-reduces by the algorithm that the job names."""
    if job.algorithm == AUTO or job.zero1:
        return exchange
    last = exchange.gradient * weights.embedding if job.overlap else 0.0
    bucket = (exchange.gradient * weights.total - last) / exchange.units
    last_time = bucket_time(job, last)
    return replace(
        exchange,
        scatter=exchange.units * bucket_time(job, bucket) + last_time,
        last_reduce=last_time,
    )


def bucket_time(job: SyncJob, size: Bytes) -> Seconds:
    """Return the time of one all-reduce, by the job's algorithm."""
    return all_reduce_time(job.wires, job.algorithm, size)


@record
class GradientAllReduce:
    """All-reduce of the whole gradient in one piece, whatever the tokens.

    Attributes:
        algorithm: of the messages that a step sends.
        collective: its time.
        latency_part: of that.
    """

    algorithm: str
    collective: Seconds
    latency_part: Seconds


def gradient_all_reduce(job: SyncJob) -> GradientAllReduce:
    """Return the all-reduce of the job's gradients."""
    # NCCL chooses for the message that is sent: a bucket, unless nothing overlaps.
    message = job.size
    if job.overlap:
        exchange, weights = sync_step(job).exchange, sync_step(job).weights
        message = exchange.gradient * (weights.total - weights.embedding) / exchange.units
    return GradientAllReduce(
        algorithm=effective_algorithm(job.wires, job.algorithm, message),
        collective=all_reduce_time(job.wires, job.algorithm, job.size),
        latency_part=latency_time(job.wires, job.algorithm, job.size),
    )


def ideal_exposed(job: SyncJob, step: SyncStep, collective: Seconds) -> Seconds:
    """Return a bound of what is exposed: infinitely small buckets without latency or contention."""
    if not job.overlap:
        return step.communication
    windows = (step.forward, step.backward) if job.zero1 else (step.backward,)
    part = collective / len(windows)
    return sum((max(0.0, part - window) for window in windows), 0.0)


def reached_share(job: SyncJob, step: SyncStep, peak: FlopRate) -> Share:
    """Return the share of the peak that forward and backward pass reach.

    Six operations per parameter and token; those of attention scores are not counted.
    """
    tokens = job.tokens * job.accumulation
    return compute_time(job.parameters, tokens, 1.0, peak) / step.parts.compute


@lru_cache(maxsize=256)
def break_even(job: SyncJob) -> Tokens:
    """Return the least tokens of a pass whose backward pass is as long as the all-reduce.

    Infinite beyond 2^20, and for a single bucket: it starts when the backward pass ends.
    """
    least = all_reduce_time(job.wires, job.algorithm, job.size)
    if sync_step(replace(job, overlap=True)).exchange.units == 1:
        return math.inf

    def hides(tokens: Count) -> bool:
        return sync_step(replace(job, tokens=float(tokens), accumulation=1)).backward >= least

    low, high = 0, _MOST_TOKENS
    if not hides(high):
        return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if hides(middle) else (middle, high)
    return float(high)


def required_port(job: SyncJob, algorithm: str, backward: Seconds) -> Bandwidth:
    """Return the port bandwidth (in one node: link bandwidth) that hides the all-reduce: a bound.

    Latencies, buckets and contention are left out. Infinite if no port can: the part inside the
    node alone outlasts the backward pass.
    """
    load = port_load(job.wires, algorithm, job.size)
    return required_bandwidth(load.sent, backward, load.wait)


COMPUTE, COMMUNICATION = "compute", "communication"
_GROUPS: Count = 12


@record
class SyncSpan:
    """A pass, or the collectives of a group of buckets, from start to end.

    Attributes:
        stream: `COMPUTE` or `COMMUNICATION`.
        kind: "forward", "backward", "gather", "reduce", "update" or "other".
        start, end: since the beginning of the micro-batch.
        first, last: buckets of the group, from 1, in the order in which they are reduced; 0 for
            what belongs to none.
        exposed: communication with nothing computed beside it.
    """

    stream: str
    kind: str
    start: Seconds
    end: Seconds
    first: Count = 0
    last: Count = 0
    exposed: bool = False


@record
class _Buckets:
    """Equal buckets that a pass fills at even intervals, and one more at its end.

    Attributes:
        count: equal buckets.
        computing: seconds of the pass.
        sending: seconds of all equal buckets.
        behind: seconds of the one more.
    """

    count: Count
    computing: Seconds
    sending: Seconds
    behind: Seconds


def sync_spans(job: SyncJob, step: SyncStep) -> tuple[SyncSpan, ...]:
    """Return the spans of the last micro-batch; together they are as long as the step model says.

    Of several micro-batches, the gathers of ZeRO-1 stand in front of the first; drawn is one.
    """
    sent, (forward, backward) = step.exchange, slower_passes(job, step)
    spans = [SyncSpan(stream=COMPUTE, kind="forward", start=0.0, end=forward)]
    if sent.gather:
        gathers = _Buckets(
            count=sent.units,
            computing=forward,
            sending=sent.gather - sent.last_gather,
            behind=sent.last_gather,
        )
        spans = _mirrored(list(_reductions(gathers, "forward", "gather")))
    at = max(span.end for span in spans)
    reductions = _Buckets(
        count=sent.units,
        computing=backward,
        sending=sent.reduce - sent.last_reduce,
        behind=sent.last_reduce,
    )
    for span in _reductions(reductions, "backward", "reduce"):
        spans.append(replace(span, start=at + span.start, end=at + span.end))
    at = max(span.end for span in spans)
    for kind, time in (("update", step.parts.optimizer), ("other", step.parts.other)):
        spans.append(SyncSpan(stream=COMPUTE, kind=kind, start=at, end=at + time))
        at += time
    return tuple(spans)


def _reductions(buckets: _Buckets, passed: str, sent: str) -> Iterator[SyncSpan]:
    """Return a pass from 0 and the collectives behind it; what outlasts it is exposed."""
    count, end = buckets.count, buckets.computing
    interval, each = buckets.computing / count, buckets.sending / count
    groups = min(count, _GROUPS)
    bounds = [count * index // groups for index in range(groups + 1)]
    free = 0.0
    for before, last in pairwise(bounds):
        yield SyncSpan(
            stream=COMPUTE,
            kind=passed,
            start=interval * before,
            end=interval * last,
            first=before + 1,
            last=last,
        )
        start = max(free, interval * (before + 1))
        # Equal buckets, evenly spaced: the group ends after work without a pause from its start,
        # or one collective after its last bucket is full, whichever is later.
        free = max(start + (last - before) * each, interval * last + each)
        group = SyncSpan(
            stream=COMMUNICATION, kind=sent, start=start, end=free, first=before + 1, last=last
        )
        yield from _cut(group, end)
    if buckets.behind:
        start = max(free, end)
        yield SyncSpan(
            stream=COMMUNICATION, kind=sent, start=start, end=start + buckets.behind, exposed=True
        )


def _cut(span: SyncSpan, end: Seconds) -> Iterator[SyncSpan]:
    """Return a span cut where the pass ends: the part behind it is exposed."""
    if span.start < end:
        yield replace(span, end=min(end, span.end))
    if span.end > end:
        yield replace(span, start=max(end, span.start), exposed=True)


def _mirrored(spans: list[SyncSpan]) -> list[SyncSpan]:
    """Return spans played backwards: gathers in front of the pass that needs them."""
    end = max(span.end for span in spans)
    return [
        replace(forward, start=end - forward.end, end=end - forward.start)
        for forward in reversed(spans)
    ]
