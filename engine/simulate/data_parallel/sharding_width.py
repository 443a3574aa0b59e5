"""Sharding options of a job's states: GPU memory against inter-node bytes, and the best."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.units import Bytes, Count, Parameters, Ratio
from engine.formulas.node_volumes import node_bytes_sent
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.formulas.volumes import gradient_passes, parameter_passes

_HALF: Bytes = 2.0
# ZeRO++ sends parameters as blocks of 8-bit integers, gradients of 4 bits (Wang et al. 2023).
_QUANTIZED_PARAMETER: Bytes = 1.0
_QUANTIZED_GRADIENT: Bytes = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardingJob:
    """A sharded job and its sharding group.

    Attributes:
        parameters: of the model.
        ranks: of data parallelism, whole nodes.
        gpus_per_node: all in the job.
        shard: ranks that share one copy of the states.
        num_microbatches: of a step.
        sum_once: copies sum their gradients once a step, not with every micro-batch.
        second: every node keeps a second copy of the parameters for the backward pass (hpZ).
        quantized: parameters cross in 8 bits, gradients in 4 (qwZ, qgZ).
    """

    parameters: Parameters
    ranks: Count
    gpus_per_node: Count
    shard: Count
    num_microbatches: Count = 1
    sum_once: bool = True
    second: bool = False
    quantized: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardingOption:
    """A sharding option with memory per GPU and bytes sent per node."""

    key: str
    memory: Bytes
    sent: Bytes


def node_crossings(job: ShardingJob) -> tuple[Ratio, Ratio, Ratio]:
    """Return the inter-node all-gathers, reduce-scatters and replica sums of a step."""
    micro, wide = job.num_microbatches, job.shard > job.gpus_per_node
    copies = job.ranks // job.shard > 1 and job.ranks > job.gpus_per_node
    return (
        float(micro * (1 if job.second else 2) * wide),
        float(micro * wide),
        float((1 if job.sum_once else micro) * copies),
    )


def kept_bytes(job: ShardingJob) -> Bytes:
    """Return the state bytes per GPU in mixed precision, with its share of a second copy."""
    states = sharded_states(job.parameters, MIXED_PRECISION, 3, job.shard).total
    return states + (_HALF * job.parameters / job.gpus_per_node if job.second else 0.0)


def node_bytes(job: ShardingJob) -> Bytes:
    """Return the bytes that a node sends to others per step."""
    parameter = _QUANTIZED_PARAMETER if job.quantized else _HALF
    gradient = _QUANTIZED_GRADIENT if job.quantized else _HALF
    gathers, reductions, sums = node_crossings(job)
    return node_bytes_sent(
        gathers * parameter * job.parameters,
        reductions * gradient * job.parameters,
        sums * gradient * job.parameters,
        job.shard,
        job.ranks // job.shard,
        job.gpus_per_node,
    )


def sharding_option(key: str, job: ShardingJob) -> ShardingOption:
    """Return the option of a fully sharded job."""
    return ShardingOption(key=key, memory=kept_bytes(job), sent=node_bytes(job))


def zero_option(
    key: str, zero_stage: Count, parameters: Parameters, ranks: Count, micro: Count
) -> ShardingOption:
    """Return the option of ZeRO stage 1 or 2 over all ranks, with inter-node rings."""
    passes = gradient_passes(zero_stage, micro) + parameter_passes(zero_stage, micro)
    return ShardingOption(
        key=key,
        memory=sharded_states(parameters, MIXED_PRECISION, zero_stage, ranks).total,
        sent=(ranks - 1) / ranks * passes * _HALF * parameters,
    )


def pareto_front(ways: Sequence[ShardingOption]) -> tuple[ShardingOption, ...]:
    """Return the Pareto-optimal options by memory and bytes, the least memory first."""
    front_options: list[ShardingOption] = []
    for option in sorted(ways, key=lambda candidate: (candidate.memory, candidate.sent)):
        if not front_options or option.sent < front_options[-1].sent:
            front_options.append(option)
    return tuple(front_options)
