"""How long collectives of NCCL take over nodes in LL128, the protocol between LL and Simple.

120 of 128 bytes are data. All but the step of a ring over nodes, which is fitted, is what NCCL
plans with (tuning.cc, enqueue.cc, search.cc). Arguments are those of
`engine.formulas.transfer_time`.
"""

from math import hypot, inf, log2
from typing import Literal

from engine.catalog.nccl_constants import (
    MEDIUM_BY_SIZE,
    MEDIUM_CHUNK,
    MEDIUM_DATA,
    MEDIUM_SHARE,
    MEDIUM_SMALLEST_CHUNK,
    MEDIUM_SPLIT_CHUNK,
    MEDIUM_START,
    MEDIUM_STEP_OVER,
    MEDIUM_TREE_STEP,
    SMALL_BY_SIZE,
    TREE_BY_SIZE,
    TREE_SHARE,
)
from engine.catalog.transports import INFINIBAND, LAUNCH, Transport
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds, Share

_BY_SIZE = {"Simple": TREE_BY_SIZE, "LL128": MEDIUM_BY_SIZE, "LL": SMALL_BY_SIZE}
# The first size of NCCL's tables of trees.
_SMALLEST: Bytes = 64.0


def planned_share(size: Bytes, protocol: Literal["Simple", "LL128", "LL"]) -> Share:
    """Return the share of its bandwidth that a tree reaches by NCCL's table of the protocol.

    Between two of its sizes straight in the logarithm; beyond it as at its end.
    """
    table = _BY_SIZE[protocol]
    place = min(max(log2(size / _SMALLEST), 0.0), len(table) - 1.0)
    below = min(int(place), len(table) - 2)
    low, high = table[below : below + 2]
    return low + (place - below) * (high - low)


def channels(ranks: Count, nodes: Count) -> Count:
    """Return the channels that NCCL opens on Hopper and later, with a port per GPU.

    It finds one per port, doubles up to four of them, and then all (search.cc, connect.cc).
    """
    return min(4 * -(-ranks // nodes), 16)


def medium_ring_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
) -> Seconds:
    """Return the time of an all-reduce in a ring over nodes: two rounds.

    Source: tuning.cc; the step and its overlap with the transfer from measured gathers.
    """
    return LAUNCH + MEDIUM_START + 2 * _round(size, ranks, nodes, bandwidth, network)


def medium_half_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
) -> Seconds:
    """Return the time of a reduce-scatter or an all-gather in LL128. Source: tuning.cc."""
    return LAUNCH + MEDIUM_START + _round(size, ranks, nodes, bandwidth, network)


def _round(
    size: Bytes, ranks: Count, nodes: Count, bandwidth: Bandwidth, network: Transport
) -> Seconds:
    """Return the time of one round: steps and transfer overlap, as those of LL in a node do."""
    steps = (ranks - 1) * MEDIUM_STEP_OVER + (nodes - 1) * network.step_small
    bound = channels(ranks, nodes) / 2 * network.medium_ring
    return hypot(steps, (ranks - 1) / ranks * size / min(MEDIUM_SHARE * bandwidth, bound))


def medium_tree_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport = INFINIBAND,
    links: Bandwidth = inf,
    pattern: Share = 1.0,
) -> Seconds:
    """Return the time of a double binary tree of nodes, each of them a chain of its ranks.

    Bytes and `pattern` as in Simple. The first chunk passes the whole tree before the last one has
    left: up and down, as many stages as NCCL counts when it chooses the chunk.

    Source: NCCL's tuning.cc, and enqueue.cc for the chunks.
    """
    bound = channels(ranks, nodes) / 2 * network.medium_tree
    rate = pattern * min(TREE_SHARE * MEDIUM_DATA * bandwidth, bound)
    rate *= planned_share(size, "LL128")
    sent = max(size if nodes == 2 else 2 * size, 2 * size * bandwidth / links) / rate
    levels = (nodes - 1).bit_length()
    inside = -(-ranks // nodes) - 1
    latency = 2 * (inside * MEDIUM_TREE_STEP + levels * network.step_small)
    return LAUNCH + MEDIUM_START + latency + sent * (1 + _fill(size, ranks, nodes))


def _fill(size: Bytes, ranks: Count, nodes: Count) -> Ratio:
    """Return how much of a tree's transfer passes until its last stage has the first chunk."""
    per_node = -(-ranks // nodes)
    stages = 1 + nodes.bit_length() - 1 + 0.1 * per_node
    share = size / channels(ranks, nodes)
    chunk = MEDIUM_CHUNK
    while chunk > MEDIUM_SPLIT_CHUNK and share / chunk < 64 * stages / per_node:
        chunk /= 2
    while chunk > MEDIUM_SMALLEST_CHUNK and share / chunk < 16 * stages / per_node:
        chunk /= 2
    return 2 * stages * min(1.0, chunk / share)
