"""How long collectives of NCCL take: rings, trees and switches that add, by size of the message.

`size` is the whole buffer of a rank: before a reduce-scatter, after an all-gather. `bandwidth` is
the bus bandwidth of large messages, one way: that of the scale-up links inside a node, that of the
group's share of the network ports between nodes. `network` is what connects the nodes. Latencies
and ramps are those of `engine.catalog.constants`.
"""

from math import hypot, inf

from engine.basis.equation import Equation
from engine.basis.units import Bandwidth, Bytes, Count, Ratio, Seconds
from engine.catalog.transports import (
    INFINIBAND,
    LAUNCH,
    MESSAGES_AT_ONCE,
    NVLINK,
    PAT_OVERLAP,
    PAT_RANK,
    PAT_SHARE,
    PAT_START,
    SMALL_ON_MORE,
    SMALL_ON_TWO,
    SMALL_STEP_BETWEEN,
    SWITCH,
    SWITCH_SHARE,
    SWITCH_TREE,
    SWITCH_TREE_STEP,
    TREE_BY_SIZE,
    TREE_SHARE,
    Transport,
)
from engine.catalog.tuned import taken
from engine.formulas.medium_time import (
    medium_half_time,
    medium_ring_time,
    medium_tree_time,
    planned_share,
)

RING_WITH_RAMP = Equation(
    name="ring_all_reduce_ramped_time",
    tex=(
        r"\v{T} = \v{To} + 2(\v{n}-1)\,\v{a} + \frac{2(\v{n}-1)}{\v{n}}\,"
        r"\frac{\v{S}}{\v{B}} \left(1 + \frac{\v{Sr}}{\v{S}+\v{Ss}}\right)"
    ),
    symbols={
        "T": ("T", "time"),
        "To": ("T_0", "start of the collective"),
        "a": (r"\alpha", "latency of one step"),
        "n": ("n", "ranks"),
        "S": ("S", "buffer"),
        "B": ("B", "bus bandwidth of large messages"),
        "Sr": (r"S_{\mathrm{ramp}}", "size of the ramp"),
        "Ss": (r"S_{\mathrm{scale}}", "scale of the ramp"),
    },
    sources=("nccl_tuning", "nccl_tests"),
)


def ramp(size: Bytes, link: Transport) -> Ratio:
    """Return how much longer a message takes than at the bandwidth of large messages.

    It is cut into chunks for all channels; until the pipeline of chunks is full the links idle.
    """
    return 1 + link.ramp / (size + link.scale)


def tree_ramp(size: Bytes, network: Transport) -> Ratio:
    """Return how much longer a tree of nodes takes than at the bandwidth of large messages."""
    if not network.planned:
        return ramp(size, network)
    return TREE_BY_SIZE[-1] / planned_share(size, "Simple")


def network_step(size: Bytes, network: Transport) -> Seconds:
    """Return the latency from node to node: below the eager limit without asking first."""
    return network.step_eager if size <= network.eager else network.step


def ring_latency(size: Bytes, ranks: Count, nodes: Count, network: Transport) -> Seconds:
    """Return the latency of one round of a ring, from rank to rank and from node to node."""
    across = nodes * network_step(size, network) if nodes > 1 else 0.0
    return (ranks - nodes) * NVLINK.step + across


def tree_latency(size: Bytes, ranks: Count, nodes: Count, network: Transport) -> Seconds:
    """Return the latency up (or down) a tree of nodes, each of which is a chain of its ranks."""
    inside = (-(-ranks // nodes) - 1) * NVLINK.step
    return inside + (nodes - 1).bit_length() * network_step(size, network)


def ring_all_reduce_ramped_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
) -> Seconds:
    """Return the time of a ring all-reduce: two rounds. Source: NCCL's tuning.cc."""
    share = 2 * (ranks - 1) / ranks * size / bandwidth
    link = NVLINK if nodes == 1 else network
    latency = 2 * ring_latency(size, ranks, nodes, network)
    return LAUNCH + NVLINK.start + latency + share * ramp(size, link)


def tree_all_reduce_ramped_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
    links: Bandwidth = inf,
) -> Seconds:
    """Return the time of a double binary tree of nodes, each of them a chain of its ranks.

    Of two nodes each sends the buffer once, of more each sends it twice; on the chains it goes up
    and down over the `links`. Source: NCCL's tuning.cc.
    """
    sent = max(size if nodes == 2 else 2 * size, 2 * size * bandwidth / links)
    sent /= TREE_SHARE * bandwidth
    latency = 2 * tree_latency(size, ranks, nodes, network)
    return LAUNCH + NVLINK.start + latency + sent * tree_ramp(size, network)


def small_round_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
) -> Seconds:
    """Return one round in the protocol for small messages (LL), without its start.

    In a node a ring of steps, each of which is part latency and part transfer: a flag travels with
    every eight bytes, so that the two overlap, as independent delays do. Over nodes a tree.

    Source: NCCL's tuning.cc; the shape from measured all-reduce of 8 H100.
    """
    if nodes == 1:
        transfer = size / ranks / (bandwidth * NVLINK.share_small)
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


def switch_all_reduce_time(size: Bytes, ranks: Count, bandwidth: Bandwidth) -> Seconds:
    """Return the time when the switch of the node adds (NVLS), `bandwidth` that of a ring.

    Every rank sends and receives (n + 1)/n buffers instead of 2(n - 1)/n, at a share of the
    bandwidth: of 8 ranks 1.3 times as fast, of 4 no faster.

    Source: measured all-reduce of 4 to 8 H200; NCCL's tuning.cc (efficiency and latency).
    """
    sent = (ranks + 1) / ranks * size / (SWITCH_SHARE * bandwidth)
    return LAUNCH + SWITCH.start + sent * ramp(size, SWITCH)


def switch_tree_all_reduce_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
    links: Bandwidth = inf,
) -> Seconds:
    """Return the time when switches add in every node, and a tree between nodes (NVLSTree).

    Of two nodes each sends the buffer once, of more each sends it twice; in a node it goes to the
    switch and back. The slower of the two sets the pace.

    Source: NCCL's tuning.cc; the ramp is that of one node.
    """
    inside = -(-ranks // nodes)
    across = (size if nodes == 2 else 2 * size) / bandwidth
    sent = max(across, (inside + 1) / inside * size / (SWITCH_SHARE * links))
    step = network.step + SWITCH_TREE_STEP
    latency = SWITCH_TREE + 2 * (nodes - 1).bit_length() * step
    return LAUNCH + latency + sent * ramp(size, SWITCH)


def _has_small(nodes: Count, network: Transport) -> bool:
    """Return whether LL may run: a network that reorders (EFA v1) leaves only Simple."""
    return nodes == 1 or network.share_small > 0


def all_reduce_times(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    switch_adds: bool = False,
    network: Transport = INFINIBAND,
    links: Bandwidth = inf,
) -> dict[str, Seconds]:
    """Return "algorithm protocol" -> time of what NCCL chooses an all-reduce from."""
    group = (ranks, nodes, bandwidth, network)
    found = {"Ring Simple": ring_all_reduce_ramped_time(size, *group)}
    if nodes == 1:
        found["Ring LL"] = small_all_reduce_time(size, *group)
        if switch_adds and ranks > 2:
            found["NVLS Simple"] = switch_all_reduce_time(size, ranks, bandwidth)
        return found
    found["Tree Simple"] = tree_all_reduce_ramped_time(size, *group, links)
    if switch_adds and network.planned:
        found["NVLSTree Simple"] = switch_tree_all_reduce_time(size, *group, links)
    if _has_small(nodes, network):
        found["Tree LL"] = small_all_reduce_time(size, *group)
        if network.medium:
            found["Tree LL128"] = medium_tree_time(size, *group, links)
            found["Ring LL128"] = medium_ring_time(size, *group)
    return found


def all_reduce_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    switch_adds: bool = False,
    network: Transport = INFINIBAND,
    links: Bandwidth = inf,
) -> Seconds:
    """Return the time of an all-reduce with the algorithm and protocol that NCCL takes.

    That is what the network's own tuner takes, if it has one, else the fastest. `links` is the bus
    bandwidth inside a node, where several take part.
    """
    if ranks <= 1 or size <= 0:
        return 0.0
    found = all_reduce_times(size, ranks, nodes, bandwidth, switch_adds, network, links)
    return _charged(found, network, "all_reduce", size, ranks, nodes)


def _charged(
    found: dict[str, Seconds],
    network: Transport,
    operation: str,
    size: Bytes,
    ranks: Count,
    nodes: Count,
) -> Seconds:
    """Return the time of what NCCL takes of the possible ways.

    Source: nccl_ofi_regions.cpp of Amazon's plug-in; NCCL's tuning.cc.
    """
    name = taken(network.tuner, operation, size, ranks, nodes, found)
    return found[name] if name else min(found.values())


def half_times(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
) -> dict[str, Seconds]:
    """Return "algorithm protocol" -> time of what NCCL chooses a reduce-scatter or a gather from.

    The latency of a ring grows with the number of ranks, in all its protocols. Only with one rank
    per node NCCL can take its tree (PAT), whose latency grows with the logarithm.

    Source: NCCL's tuning.cc ("PAT only supports 1 GPU per node").
    """
    group = (ranks, nodes, bandwidth, network)
    found = {"Ring Simple": half_time(size, *group, ring_latency(size, ranks, nodes, network))}
    if ranks == nodes:
        found["PAT Simple"] = parallel_tree_time(size, ranks, bandwidth, network)
    if _has_small(nodes, network):
        found["Ring LL"] = small_half_time(size, *group)
        if nodes > 1 and network.medium:
            found["Ring LL128"] = medium_half_time(size, *group)
    return found


def scatter_or_gather_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
    operation: str = "all_gather",
) -> Seconds:
    """Return the time of a reduce-scatter or an all-gather, chosen as an all-reduce is.

    Half of an all-reduce ramps up as far as half of its pipeline. Unless told otherwise a tuner's
    regions are those of an all-gather, from which those of a reduce-scatter differ little.

    Source: NCCL's tuning.cc.
    """
    if ranks <= 1 or size <= 0:
        return 0.0
    found = half_times(size, ranks, nodes, bandwidth, network)
    return _charged(found, network, operation, size, ranks, nodes)


def parallel_tree_time(
    size: Bytes, ranks: Count, bandwidth: Bandwidth, network: Transport = INFINIBAND
) -> Seconds:
    """Return the time of a reduce-scatter or an all-gather in PAT, one rank per node.

    Its levels overlap but for a part, a step per rank remains, and it reaches three quarters of the
    bandwidth.

    Source: NCCL's tuning.cc.
    """
    levels = (ranks - 1).bit_length() * network.step / PAT_OVERLAP
    return LAUNCH + PAT_START + levels + ranks * PAT_RANK + size / (PAT_SHARE * bandwidth)


def half_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport,
    latency: Seconds,
) -> Seconds:
    """Return one round of an all-reduce whose messages take `latency` together, in Simple.

    The ramp is that of NCCL's chunks, so a network without one of its own has that of the links.
    """
    share = (ranks - 1) / ranks * size / bandwidth
    ramped = (1 + ramp(size, network if nodes > 1 and network.ramp else NVLINK)) / 2
    return LAUNCH + NVLINK.start + latency + share * ramped


def small_half_time(
    size: Bytes, ranks: Count, nodes: Count, bandwidth: Bandwidth, network: Transport
) -> Seconds:
    """Return one round of an all-reduce in the protocol for small messages, with its start.

    Over nodes a ring: NCCL has trees for an all-reduce alone.
    """
    if nodes == 1:
        one = small_round_time(size, ranks, nodes, bandwidth, network)
        return LAUNCH + NVLINK.start_small + one
    steps = (ranks - nodes) * SMALL_STEP_BETWEEN + (nodes - 1) * network.step_small
    rate = min(0.5 * bandwidth, SMALL_ON_TWO if nodes == 2 else SMALL_ON_MORE)
    return LAUNCH + NVLINK.start_small + steps + (ranks - 1) / ranks * size / rate


def all_to_all_time(
    size: Bytes, ranks: Count, nodes: Count, bandwidth: Bandwidth, network: Transport = INFINIBAND
) -> Seconds:
    """Return the time in which every rank sends a piece of its buffer to every other one.

    `bandwidth` is that of one rank's port. Eight messages are under way at once, and each group of
    eight waits for the network.

    Source: NCCL's enqueue.cc.
    """
    rounds = -(-ranks // MESSAGES_AT_ONCE)
    waits = rounds * (NVLINK.step if nodes == 1 else network.step)
    return LAUNCH + NVLINK.start + waits + size * (nodes - 1) / nodes / bandwidth


def send_time(
    size: Bytes, bandwidth: Bandwidth, nodes: Count, network: Transport = INFINIBAND
) -> Seconds:
    """Return the time of one message to the next stage, in the node (1) or in another one (2)."""
    return LAUNCH + (NVLINK.step if nodes == 1 else network.step) + size / bandwidth
