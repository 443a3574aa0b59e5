"""How long trees of nodes take in Simple: those of an all-reduce, and PAT.

Arguments are those of `engine.formulas.transfer_time`.
"""

from math import inf

from engine.catalog.nccl_constants import (
    PAT_OVERLAP,
    PAT_RANK,
    PAT_SHARE,
    PAT_START,
    TREE_BY_SIZE,
    TREE_ON_ONE,
    TREE_SHARE,
)
from engine.catalog.transports import INFINIBAND, LAUNCH, NVLINK, Transport
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds, Share
from engine.formulas.medium_time import planned_share
from engine.formulas.ring_time import network_step, ramp


def tree_ramp(size: Bytes, network: Transport) -> Ratio:
    """Return how much longer a tree of nodes takes than at the bandwidth of large messages."""
    if not network.planned:
        return ramp(size, network)
    return TREE_BY_SIZE[-1] / planned_share(size, "Simple")


def tree_latency(size: Bytes, ranks: Count, nodes: Count, network: Transport) -> Seconds:
    """Return the latency up (or down) a tree of nodes, each of which is a chain of its ranks."""
    inside = (-(-ranks // nodes) - 1) * NVLINK.step
    return inside + (nodes - 1).bit_length() * network_step(size, network)


def tree_all_reduce_ramped_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
    links: Bandwidth = inf,
    pattern: Share = 1.0,
) -> Seconds:
    """Return the time of a double binary tree of nodes, each of them a chain of its ranks.

    Of two nodes each sends the buffer once, of more each sends it twice; on the chains it goes up
    and down over the `links`. `pattern` is the share that the pattern of the tree leaves of its
    bandwidth. Source: NCCL's tuning.cc.
    """
    sent = max(size if nodes == 2 else 2 * size, 2 * size * bandwidth / links)
    sent /= TREE_SHARE * pattern * bandwidth
    latency = 2 * tree_latency(size, ranks, nodes, network)
    return LAUNCH + NVLINK.start + latency + sent * tree_ramp(size, network)


def tree_pattern(network: Transport, *, simple: bool = True) -> Share:
    """Return the share of its bandwidth that the pattern of a tree of nodes leaves.

    `simple`: NCCL takes its simple tree where it finds no balanced one, as on Hopper and later.
    Source: NCCL's search.cc and tuning.cc.
    """
    return TREE_ON_ONE if simple and network.planned and not network.pairs else 1.0


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
