"""Workload of a stream program: layers of a model, and collective times of its groups."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from engine.core.units import Bandwidth, Bytes, Count, Parameters, Ratio, Seconds
from engine.formulas.communication import (
    ring_all_reduce_time,
    ring_bytes_sent,
    ring_reduce_scatter_time,
    star_all_reduce_time,
    star_bytes_sent,
)
from engine.simulate.layer.collective import nccl_collective_time
from engine.simulate.layer.device_model import RankGroup, RankRates
from engine.simulate.streams.streams import NETWORK, SCALE_UP


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveGroup:
    """A group of ranks and the times of its collectives.

    Attributes:
        ranks: number of ranks.
        all_reduce: buffer of a rank -> time of an all-reduce.
        scatter: whole buffer -> time of a reduce-scatter.
        gather: whole buffer -> time of an all-gather.
        stream: stream on which the collectives run.
        sent: buffer -> bytes that the busiest rank sends in an all-reduce.
    """

    ranks: Count
    all_reduce: Callable[[Bytes], Seconds]
    scatter: Callable[[Bytes], Seconds]
    gather: Callable[[Bytes], Seconds]
    stream: str
    sent: Callable[[Bytes], Bytes]


def ring_group(
    ranks: Count, bandwidth: Bandwidth, latency: Seconds = 0.0, stream: str = NETWORK
) -> CollectiveGroup:
    """Return a group whose collectives are plain rings, by latency and bandwidth alone."""
    return CollectiveGroup(
        ranks=ranks,
        all_reduce=lambda size: ring_all_reduce_time(size, ranks, bandwidth, latency),
        scatter=lambda size: ring_reduce_scatter_time(size, ranks, bandwidth, latency),
        gather=lambda size: ring_reduce_scatter_time(size, ranks, bandwidth, latency),
        stream=stream,
        sent=lambda size: ring_bytes_sent(size, ranks),
    )


def star_group(ranks: Count, bandwidth: Bandwidth, latency: Seconds = 0.0) -> CollectiveGroup:
    """Return a group in which one rank receives all buffers and sends their sum to all."""
    half = 2.0
    return CollectiveGroup(
        ranks=ranks,
        all_reduce=lambda size: star_all_reduce_time(size, ranks, bandwidth, latency),
        scatter=lambda size: star_all_reduce_time(size, ranks, bandwidth, latency) / half,
        gather=lambda size: star_all_reduce_time(size, ranks, bandwidth, latency) / half,
        stream=NETWORK,
        sent=lambda size: star_bytes_sent(size, ranks),
    )


def nccl_group(rank: RankRates, group: RankGroup) -> CollectiveGroup:
    """Return a group that communicates as NCCL chooses, over its own links and network.

    Layers are equal: a step asks for the time of the same few sizes again and again.
    """
    return CollectiveGroup(
        ranks=group.ranks,
        all_reduce=cache(lambda size: nccl_collective_time(rank, group, size)),
        scatter=cache(lambda size: nccl_collective_time(rank, group, size, "reduce_scatter")),
        gather=cache(lambda size: nccl_collective_time(rank, group, size, "all_gather")),
        stream=SCALE_UP if group.nodes == 1 else NETWORK,
        sent=lambda size: ring_bytes_sent(size, group.ranks),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One rank's share of a model of equal layers, with its parallelism and bucketing.

    Attributes:
        layers: equal units of the model: layers, or blocks of layers.
        forward: one layer and one micro-batch, alone.
        backward: likewise, gradients of inputs and of weights.
        parameters: of one layer, on this rank.
        data: the group that shares gradients (and, sharded, parameters).
        replicas: hybrid sharding: the group of ranks with the same shard.
        sum_once: they sum their shards with the last micro-batch only, not with every one.
        again: the smaller group that the backward pass gathers from: hpZ, or an integer for
            FSDP2's `reshard_after_forward`.
        element: bytes of a parameter on the wire.
        gradient: bytes of a gradient on the wire.
        tensors: equal tensors of one layer; a gradient is ready when its tensor is.
        num_microbatches: of one step.
        bucket: gradients are reduced as soon as so many bytes are ready.
        prefetch: sharded parameters are gathered so many layers ahead of the one at work.
        reshard: gathered parameters are freed after the forward pass and gathered again.
        tensor_gather: time of the all-gathers of tensor parallelism in one pass of one layer; its
            reduce-scatters take as long. 0: no tensor parallelism.
        tensor_size: bytes that these gathers send.
        tensor_again: backward, the inputs are gathered once more for the gradients of the weights,
            as Megatron's sequence parallelism does, which keeps only their parts.
        tensor_chunks: pieces that products and their collectives are cut into, to run side by side.
            1: blocking.
        slow_down: while a collective runs, computation takes 1 + this times as long.
        first_forward: passes of the first micro-batch's layers, beside gathers in front of them;
            0: as `forward`.
        last_backward: backward passes beside bucketed reductions; 0: as `backward`.
        last_bucket: bytes of one more bucket behind the last backward pass: the embedding's.
        gathers_last: updated parameters are gathered behind the optimizer, not beside the passes.
        optimizer: the update, after all gradients are there.
        other: what the step takes longer, of the host and for the slowest GPU.
    """

    layers: Count
    forward: Seconds
    backward: Seconds
    parameters: Parameters
    data: CollectiveGroup
    replicas: CollectiveGroup | None = None
    sum_once: bool = False
    again: CollectiveGroup | None = None
    element: Bytes = 2.0
    gradient: Bytes = 2.0
    tensors: Count = 1
    num_microbatches: Count = 1
    bucket: Bytes = 25 * 2.0**20
    prefetch: Count = 1
    reshard: bool = True
    tensor_gather: Seconds = 0.0
    tensor_size: Bytes = 0.0
    tensor_again: bool = False
    tensor_chunks: Count = 1
    slow_down: Ratio = 0.0
    first_forward: Seconds = 0.0
    last_backward: Seconds = 0.0
    last_bucket: Bytes = 0.0
    gathers_last: bool = False
    optimizer: Seconds = 0.0
    other: Seconds = 0.0


def layer_gradient(work: Workload) -> Bytes:
    """Return the bytes of one layer's gradients."""
    return work.parameters * work.gradient
