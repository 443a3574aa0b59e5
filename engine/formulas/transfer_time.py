"""Time of NCCL collectives with the algorithm and protocol that NCCL chooses.

`size` is the whole buffer of a rank: before a reduce-scatter, after an all-gather. `bandwidth` is
the bus bandwidth of large messages, one way: that of the scale-up links inside a node, that of the
group's share of the network ports between nodes. `network` is what connects the nodes. `switch` is
the share of the links' bandwidth that sums in the switch reach; 0 where it cannot add. Latencies
and ramps are those of `engine.catalog.constants`.
"""

from collections.abc import Mapping
from math import hypot, inf
from typing import Literal

from engine.catalog.nccl_constants import (
    MEDIUM_LEAST,
    SMALL_ON_MORE,
    SMALL_ON_TWO,
    SMALL_STEP_BETWEEN,
)
from engine.catalog.nccl_tuner import tuner_choice
from engine.catalog.transports import INFINIBAND, LAUNCH, NVLINK, Transport
from engine.core.units import Bandwidth, Bytes, Count, Seconds, Share
from engine.formulas.medium_time import (
    medium_half_time,
    medium_ring_time,
    medium_tree_time,
)
from engine.formulas.planned_choice import planned_all_reduces, planned_halves
from engine.formulas.ring_time import half_time, ring_all_reduce_ramped_time, ring_latency
from engine.formulas.switch_time import switch_all_reduce_time, switch_tree_all_reduce_time
from engine.formulas.tree_time import (
    parallel_tree_time,
    tree_all_reduce_ramped_time,
    tree_pattern,
)

Half = Literal["all_gather", "reduce_scatter"]
# Ranks, nodes, bandwidth and network of a group.
Ends = tuple[Count, Count, Bandwidth, Transport]


def _has_small(nodes: Count, network: Transport) -> bool:
    """Return whether LL may run: a network that reorders (EFA v1) leaves only Simple."""
    return nodes == 1 or network.share_small > 0


def all_reduce_times(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    switch: Share = 0.0,
    network: Transport = INFINIBAND,
    links: Bandwidth = inf,
) -> dict[str, Seconds]:
    """Return "algorithm protocol" -> time of each all-reduce that NCCL can choose."""
    group = (ranks, nodes, bandwidth, network)
    times = {"Ring Simple": ring_all_reduce_ramped_time(size, *group)}
    if nodes == 1:
        times["Ring LL"] = small_all_reduce_time(size, *group)
        if switch and ranks > 2:
            times["NVLS Simple"] = switch_all_reduce_time(size, ranks, bandwidth, switch)
        return times
    pattern = tree_pattern(network, simple=bool(switch))
    times["Tree Simple"] = tree_all_reduce_ramped_time(size, *group, links, pattern)
    if switch and network.planned and ranks > 2 * nodes:
        ends = (ranks, nodes, bandwidth, switch, network, links)
        times["NVLSTree Simple"] = switch_tree_all_reduce_time(size, *ends)
    if _has_small(nodes, network):
        times["Tree LL"] = small_all_reduce_time(size, *group)
        if network.medium:
            times["Tree LL128"] = medium_tree_time(size, *group, links, pattern)
            times["Ring LL128"] = medium_ring_time(size, *group)
    return times


def all_reduce_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    switch: Share = 0.0,
    network: Transport = INFINIBAND,
    links: Bandwidth = inf,
) -> Seconds:
    """Return the time of an all-reduce with the algorithm and protocol that NCCL takes.

    `links` is the bus bandwidth inside a node, where several take part.
    """
    if ranks <= 1 or size <= 0:
        return 0.0
    times = all_reduce_times(size, ranks, nodes, bandwidth, switch, network, links)
    group = (ranks, nodes, bandwidth, network)
    return times[all_reduce_choice(times, size, group, switch, links)]


def all_reduce_choice(
    times: Mapping[str, Seconds], size: Bytes, group: Ends, switch: Share, links: Bandwidth
) -> str:
    """Return NCCL's choice of algorithm and protocol for an all-reduce.

    That is what the network's own tuner takes, if it has one, else what NCCL plans is the fastest.
    For older GPUs, in one node and over other networks the fastest stands in for it.

    Source: nccl_ofi_regions.cpp of Amazon's plug-in; NCCL's tuning.cc.
    """
    ranks, nodes, _, network = group
    name = tuner_choice(network.tuner, "all_reduce", size, ranks, nodes, times)
    if name or nodes == 1 or not (switch and network.planned):
        return name or min(times, key=times.__getitem__)
    planned = planned_all_reduces(size, *group, links)
    return min((way for way in planned if way in times), key=planned.__getitem__)


def half_times(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
) -> dict[str, Seconds]:
    """Return "algorithm protocol" -> time of each reduce-scatter or all-gather NCCL can choose.

    The latency of a ring grows with the number of ranks, in all its protocols. Only with one rank
    per node NCCL can take its tree (PAT), whose latency grows with the logarithm. LL128 is left
    out where its step carries less than was measured.

    Source: NCCL's tuning.cc ("PAT only supports 1 GPU per node").
    """
    group = (ranks, nodes, bandwidth, network)
    return {way: _half_time(way, size, group) for way in _half_ways(size, ranks, nodes, network)}


def _half_ways(size: Bytes, ranks: Count, nodes: Count, network: Transport) -> tuple[str, ...]:
    ways = ["Ring Simple"]
    if ranks == nodes:
        ways.append("PAT Simple")
    if _has_small(nodes, network):
        ways.append("Ring LL")
        if nodes > 1 and network.medium and size >= ranks * MEDIUM_LEAST:
            ways.append("Ring LL128")
    return tuple(ways)


def _half_time(way: str, size: Bytes, group: Ends) -> Seconds:
    ranks, nodes, bandwidth, network = group
    if way == "Ring LL128":
        return medium_half_time(size, *group)
    if way == "Ring LL":
        return small_half_time(size, *group)
    if way == "PAT Simple":
        return parallel_tree_time(size, ranks, bandwidth, network)
    return half_time(size, *group, ring_latency(size, ranks, nodes, network))


def scatter_or_gather_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
    operation: Half = "all_gather",
) -> Seconds:
    """Return the time of an all-gather or a reduce-scatter, chosen as an all-reduce is.

    Half of an all-reduce ramps up as far as half of its pipeline. The two differ only where the
    network's tuner has regions of each: Amazon's has for its third and fourth generation.

    Source: NCCL's tuning.cc.
    """
    if ranks <= 1 or size <= 0:
        return 0.0
    group = (ranks, nodes, bandwidth, network)
    if nodes == 1 or not network.planned:
        return min(half_times(size, *group).values())
    return _half_time(half_choice(operation, size, group), size, group)


def half_choice(operation: str, size: Bytes, group: Ends) -> str:
    """Return NCCL's choice of algorithm and protocol for a reduce-scatter or an all-gather."""
    ranks, nodes, _, network = group
    if nodes == 1 or not network.planned:
        times = half_times(size, *group)
        return min(times, key=times.__getitem__)
    ways = _half_ways(size, ranks, nodes, network)
    if network.tuner:
        name = tuner_choice(network.tuner, operation, size, ranks, nodes, ways)
        if name:
            return name
    planned = planned_halves(size, *group)
    return min((way for way in planned if way in ways), key=planned.__getitem__)


def scatter_and_gather_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
) -> Seconds:
    """Return the time of a reduce-scatter and an all-gather of the same buffer."""
    group = (ranks, nodes, bandwidth, network)
    gather = scatter_or_gather_time(size, *group)
    if not network.tuner or nodes <= 2:
        return 2 * gather
    return gather + scatter_or_gather_time(size, *group, "reduce_scatter")


# How long collectives of NCCL take in LL, the protocol for small messages.
#
# Arguments are those of `engine.formulas.transfer_time`.


def small_round_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
) -> Seconds:
    """Return one round in the protocol for small messages (LL), without its start.

    In a node a ring of steps, each of which is part latency and part transfer: a flag travels with
    every eight bytes, so that the two overlap, as independent delays do. Between the trays of a
    rack, where a step takes longer, they add. Over nodes a tree.

    Source: NCCL's tuning.cc; the shapes from measured all-reduce of 8 H100 and gathers of GB200.
    """
    if nodes == 1:
        transfer = size / ranks / (bandwidth * NVLINK.share_small)
        if network.trays:
            return (ranks - 1) * (network.step_small + transfer)
        return (ranks - 1) * hypot(NVLINK.step_small, transfer)
    inside = (-(-ranks // nodes) - 1) * NVLINK.step_small
    share = (ranks - 1) / ranks * size / (bandwidth * network.share_small)
    return inside + (nodes - 1).bit_length() * network.step_small + share


def small_all_reduce_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
) -> Seconds:
    """Return the time of an all-reduce in the protocol for small messages: two rounds."""
    rounds = 2 * small_round_time(size, ranks, nodes, bandwidth, network)
    return LAUNCH + NVLINK.start_small + rounds


def small_half_time(
    size: Bytes, ranks: Count, nodes: Count, bandwidth: Bandwidth, network: Transport
) -> Seconds:
    """Return one round of an all-reduce in the protocol for small messages, with its start.

    Over nodes a ring: NCCL has trees for an all-reduce alone.
    """
    if nodes == 1:
        round_time = small_round_time(size, ranks, nodes, bandwidth, network)
        return LAUNCH + NVLINK.start_small + round_time
    steps = (ranks - nodes) * SMALL_STEP_BETWEEN + (nodes - 1) * network.step_small
    rate = min(0.5 * bandwidth, SMALL_ON_TWO if nodes == 2 else SMALL_ON_MORE)
    return LAUNCH + NVLINK.start_small + steps + (ranks - 1) / ranks * size / rate
