"""Ways to shard a job's states: memory of a GPU against bytes that leave a node, and which win."""

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
class Sharers:
    """A job and who shares what.

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
class Way:
    """One way to shard, with what a GPU keeps and a node sends."""

    key: str
    memory: Bytes
    sent: Bytes


def crossings(job: Sharers) -> tuple[Ratio, Ratio, Ratio]:
    """Return gathers, reduce-scatters and sums over copies of a step that leave a node."""
    micro, wide = job.num_microbatches, job.shard > job.gpus_per_node
    copies = job.ranks // job.shard > 1 and job.ranks > job.gpus_per_node
    return (
        float(micro * (1 if job.second else 2) * wide),
        float(micro * wide),
        float((1 if job.sum_once else micro) * copies),
    )


def kept(job: Sharers) -> Bytes:
    """Return the states that a GPU keeps, in mixed precision, with its share of a second copy."""
    states = sharded_states(job.parameters, MIXED_PRECISION, 3, job.shard).total
    return states + (_HALF * job.parameters / job.gpus_per_node if job.second else 0.0)


def sent(job: Sharers) -> Bytes:
    """Return what a node sends to the others in a step."""
    parameter = _QUANTIZED_PARAMETER if job.quantized else _HALF
    gradient = _QUANTIZED_GRADIENT if job.quantized else _HALF
    gathers, reductions, sums = crossings(job)
    return node_bytes_sent(
        gathers * parameter * job.parameters,
        reductions * gradient * job.parameters,
        sums * gradient * job.parameters,
        job.shard,
        job.ranks // job.shard,
        job.gpus_per_node,
    )


def way(key: str, job: Sharers) -> Way:
    """Return a way to shard everything."""
    return Way(key=key, memory=kept(job), sent=sent(job))


def replicated(
    key: str, zero_stage: Count, parameters: Parameters, ranks: Count, micro: Count
) -> Way:
    """Return ZeRO stage 1 or 2 over all ranks, whose rings leave every node."""
    passes = gradient_passes(zero_stage, micro) + parameter_passes(zero_stage, micro)
    return Way(
        key=key,
        memory=sharded_states(parameters, MIXED_PRECISION, zero_stage, ranks).total,
        sent=(ranks - 1) / ranks * passes * _HALF * parameters,
    )


def front(ways: Sequence[Way]) -> tuple[Way, ...]:
    """Return the ways that no other beats in memory and in bytes, from little memory to much."""
    best: list[Way] = []
    for one in sorted(ways, key=lambda way: (way.memory, way.sent)):
        if not best or one.sent < best[-1].sent:
            best.append(one)
    return tuple(best)
