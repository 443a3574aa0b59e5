"""A data-parallel step on n GPUs of eight to a node, by the step model, for scaling curves."""

from dataclasses import dataclass, replace
from functools import lru_cache

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse_constants
from engine.core.units import Bandwidth, Bytes, Count, FlopRate, Ratio, Seconds, Share, Tokens
from engine.formulas.parameters import total_parameters
from engine.formulas.scaling import BACKWARD, blocking_step, real_step
from engine.formulas.stragglers import slowest_with_one_slow
from engine.run.parallelism import Cluster, GradientPrecision, Plan, Training
from engine.run.run import Run
from engine.run.software import GRADIENT_BYTES
from engine.simulate.layer.device_model import RankRates, rank_group, rank_rates
from engine.simulate.step.exposed_exchange import bucketed_wait
from engine.simulate.step.sharding_time import DataParallelExchange, lengthened_pass
from engine.simulate.step.stage_time import layer_costs
from engine.simulate.step.step_time import (
    PipelineCost,
    StepTime,
    pipeline_cost,
    replica_cost,
    step_from_costs,
)

GPUS_PER_NODE: Count = 8
# Tokens of a backward pass that are tried to hide an all-reduce: 2^0 to 2^20.
_DOUBLINGS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingJob:
    """A data-parallel job in PyTorch whose scaling is computed.

    Attributes:
        model, gpu: keys of the catalog (`MODELS`, `GPUS`).
        micro_batch: tokens of a pass; gradients are reduced behind the last backward pass.
        gradient: type of a gradient on the wire.
        overlap: whether buckets are reduced behind it.
        port: speed of one network port, one way.
        ports_per_node: of eight GPUs.
        deviation: standard deviation of a GPU's computing time, of its mean.
        slower: by which one GPU is slower.
        own_constants: text of constants that were measured on these GPUs; empty: the catalog's.
    """

    model: str
    gpu: str
    micro_batch: Tokens
    gradient: GradientPrecision
    overlap: bool
    port: Bandwidth
    ports_per_node: Count
    deviation: Share
    slower: Share
    own_constants: str = ""

    @property
    def element(self) -> Bytes:
        """Bytes of a gradient on the wire."""
        return GRADIENT_BYTES[self.gradient]

    def passes(self, tokens: Tokens) -> Count:
        """Return the micro-batches that so many tokens of a GPU are."""
        return max(1, round(tokens / self.micro_batch))

    def slowest(self, num_gpus: Count) -> Ratio:
        """Return the expected slowest of n compute times relative to their mean."""
        return slowest_with_one_slow(num_gpus, self.deviation, self.slower)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingPoint:
    """A data-parallel step on n GPUs.

    Attributes:
        tokens: per GPU.
        parts: of the step, by the estimate, with `slowest` for the slowest GPU.
        host: of `parts.other`, what waits for no GPU.
        communication: the all-reduce of all buckets, alone.
        backward: one backward pass, alone.
        slowest: of n computing times, over the mean one.
        link: bus bandwidth of large messages.
    """

    tokens: Tokens
    parts: StepTime
    host: Seconds
    communication: Seconds
    backward: Seconds
    slowest: Ratio
    link: Bandwidth

    @property
    def compute(self) -> Seconds:
        """Computation of a GPU that waits for none."""
        return self.parts.compute

    @property
    def exposed(self) -> Seconds:
        """The exposed time of the all-reduce, contention included."""
        return self.parts.data_parallel

    @property
    def straggler_wait(self) -> Seconds:
        """Waiting time for the slowest GPU."""
        return (self.slowest - 1) * self.compute

    @property
    def step(self) -> Seconds:
        """Step time."""
        return self.parts.total

    @property
    def blocking(self) -> Seconds:
        """Computation and the isolated all-reduce, one after the other."""
        return blocking_step(self.compute, self.communication)

    def step_with_failures(self, goodput: Share) -> Seconds:
        """Return computation and exposed time including the slowest GPU and failures."""
        return real_step(self.compute, self.exposed, self.slowest, goodput)


def scaling_run(job: ScalingJob, num_gpus: Count, tokens: Tokens) -> Run:
    """Return the job with `tokens` on each of n GPUs as a run."""
    passes = job.passes(tokens)
    return Run(
        model=MODELS[job.model],
        cluster=Cluster(
            gpu=GPUS[job.gpu],
            gpus_per_node=GPUS_PER_NODE,
            nics_per_node=job.ports_per_node,
            nic_bandwidth=job.port,
            own_constants=parse_constants(job.own_constants),
        ),
        plan=Plan(world_size=num_gpus, zero_stage=0),
        training=Training(
            micro_batch_size=1,
            global_batch_size=num_gpus * passes,
            sequence_length=max(1, round(tokens / passes)),
            framework="fsdp",
            gradient_precision=job.gradient,
            overlap_gradient_reduce=job.overlap,
        ),
    )


@lru_cache(maxsize=1024)
def scaling_point(job: ScalingJob, num_gpus: Count, tokens: Tokens) -> ScalingPoint:
    """Return the step with `tokens` on each of n GPUs."""
    run = scaling_run(job, num_gpus, tokens)
    rank, cost, exchange, parts = _costs(run)
    slowest = job.slowest(num_gpus)
    host = rank.common.host
    return ScalingPoint(
        tokens=tokens,
        parts=replace(parts, other=host + (slowest - 1) * parts.compute),
        host=host,
        communication=exchange.reduce if num_gpus > 1 else 0.0,
        backward=cost.slowest.total - cost.slowest.forward,
        slowest=slowest,
        link=rank_group(rank, num_gpus, 1, "data").bandwidth,
    )


def _costs(run: Run) -> tuple[RankRates, PipelineCost, DataParallelExchange, StepTime]:
    """Return rates, cost of the passes, exchange and parts of the step of a run."""
    model, plan, training = run.model, run.plan, run.training
    rank = rank_rates(run.cluster, training)
    cost = pipeline_cost(model, plan, training, layer_costs(model, plan, training, rank))
    replicas = replica_cost(model, plan, training, rank, cost.weights)
    parts = step_from_costs(model, plan, training, rank, cost, replicas)
    return rank, cost, replicas.exchange, parts


def backward_rate(job: ScalingJob, tokens: Tokens) -> FlopRate:
    """Return the operations per second of a backward pass, as four per parameter and token."""
    point = scaling_point(job, 1, tokens)
    done = BACKWARD * total_parameters(MODELS[job.model]) * tokens / job.passes(tokens)
    return done / point.backward


@lru_cache(maxsize=256)
def tokens_that_hide(job: ScalingJob, num_gpus: Count) -> Tokens:
    """Return the least tokens of a pass that leave only the last buckets of n GPUs exposed.

    Beyond 2^20, or on one GPU, there is none: infinity, or 0.
    """
    if num_gpus == 1:
        return 0.0
    low, high = 0, 2**_DOUBLINGS
    if not _hides(job, num_gpus, high):
        return float("inf")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _hides(job, num_gpus, middle) else (middle, high)
    return float(high)


def _hides(job: ScalingJob, num_gpus: Count, tokens: Count) -> bool:
    """Return whether no bucket but the last two waits for the wire."""
    one_pass = replace(job, micro_batch=float(tokens), overlap=True)
    rank, cost, sent, _ = _costs(scaling_run(one_pass, num_gpus, float(tokens)))
    alone = cost.slowest.total - cost.slowest.forward
    slower = lengthened_pass(rank, cost.weights, (sent.gradient, alone))
    least = (sent.reduce - sent.last_reduce) / sent.units + sent.last_reduce
    return bucketed_wait(sent.reduce, sent.units, slower, sent.last_reduce) <= least
