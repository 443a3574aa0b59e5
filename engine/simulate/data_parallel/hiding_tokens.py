"""Tokens of a micro-batch beside which a fully sharded step waits for no gather: the estimate's."""

from functools import lru_cache

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse_constants
from engine.core.record import record
from engine.core.units import Bandwidth, Count, Tokens
from engine.run.parallelism import Cluster, GradientPrecision, Plan, Training
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.step.exposed_exchange import ShardedUnits
from engine.simulate.step.sharding_time import data_parallel_exchange, sharded_units
from engine.simulate.step.stage_time import layer_costs
from engine.simulate.step.step_time import pipeline_cost

_NODE: Count = 8
# Tokens of a sequence; more are more sequences of a micro-batch.
_SEQUENCE: Count = 4096
_DOUBLINGS = 20


@record
class GatheringJob:
    """A fully sharded job of a dense model in PyTorch.

    Attributes:
        model, gpu: keys of the catalog (`MODELS`, `GPUS`).
        ranks: GPUs, on nodes of eight.
        ports, port: network ports of a node, and the line rate of one, one way.
        gradient: its type on the wire.
        own_constants: text of constants that were measured on these GPUs; empty: the catalog's.
    """

    model: str
    gpu: str
    ranks: Count
    ports: Count
    port: Bandwidth
    gradient: GradientPrecision
    own_constants: str = ""


@lru_cache(maxsize=256)
def tokens_that_hide_gathers(job: GatheringJob) -> Tokens:
    """Return the least tokens of a micro-batch beside which no unit waits for the wire.

    Forward, a unit computes as long as its gather; backward, as long as a gather and a
    reduce-scatter. Infinite beyond 2^20.
    """
    low, high = 0, 2**_DOUBLINGS
    if not _hides(job, high):
        return float("inf")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _hides(job, middle) else (middle, high)
    return float(high)


def _hides(job: GatheringJob, tokens: Count) -> bool:
    units = gathered_units(job, tokens)
    backward = units.gather + units.scatter
    return units.gather <= units.forward and backward <= units.backward


def gathered_units(job: GatheringJob, tokens: Count) -> ShardedUnits:
    """Return passes and collectives of a micro-batch of so many tokens, unit by unit."""
    sequences = max(1, round(tokens / _SEQUENCE))
    model = MODELS[job.model]
    cluster = Cluster(
        gpu=GPUS[job.gpu],
        gpus_per_node=_NODE,
        nics_per_node=job.ports,
        nic_bandwidth=job.port,
        own_constants=parse_constants(job.own_constants),
    )
    plan = Plan(world_size=job.ranks, zero_stage=3)
    training = Training(
        micro_batch_size=sequences,
        global_batch_size=job.ranks * sequences,
        sequence_length=max(1, round(tokens / sequences)),
        framework="fsdp",
        gradient_precision=job.gradient,
    )
    rank = rank_rates(cluster, training)
    cost = pipeline_cost(model, plan, training, layer_costs(model, plan, training, rank))
    exchange = data_parallel_exchange(plan, training, rank, cost.weights)
    passes = cost.slowest.forward, cost.slowest.total - cost.slowest.forward
    return sharded_units(plan, rank, cost.weights, exchange, passes)
