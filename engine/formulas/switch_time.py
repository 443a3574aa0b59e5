"""How long an all-reduce takes when the switches of the nodes add (NVLS and NVLSTree).

Arguments are those of `engine.formulas.transfer_time`.
"""

from math import inf

from engine.catalog.nccl_constants import (
    SWITCH_TREE,
    SWITCH_TREE_CHANNELS,
    SWITCH_TREE_CHUNK,
    SWITCH_TREE_CHUNKS,
    SWITCH_TREE_STEP,
)
from engine.catalog.transports import INFINIBAND, LAUNCH, SWITCH, SWITCH_MOST, Transport
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds, Share
from engine.formulas.ring_time import ramp


def switch_buffers(ranks: Count, heads: Count) -> Ratio:
    """Return the buffers that a rank sends and receives where the switches of the nodes add.

    They are (h + 1)/h with h ranks in a node. But no more than eight ranks gain: on two nodes of
    8 H100 and on 32 and 72 GB200 of a rack, the bus bandwidth is that of one node of eight.

    Source: the measured all-reduce of `engine.catalog.measured_collectives`.
    """
    of_eight = (SWITCH_MOST + 1) / (2 * (SWITCH_MOST - 1))
    return max((heads + 1) / heads, 2 * (ranks - 1) / ranks * of_eight)


def switch_all_reduce_time(
    size: Bytes, ranks: Count, bandwidth: Bandwidth, share: Share
) -> Seconds:
    """Return the time when the switch of the node adds (NVLS), `bandwidth` that of a ring.

    Every rank sends and receives (n + 1)/n buffers instead of 2(n - 1)/n, at a share of the
    bandwidth: 8 H200 are 1.3 times as fast, 4 no faster.

    Source: measured all-reduce of 4 to 8 H200 and B200; NCCL's tuning.cc (latency).
    """
    sent = switch_buffers(ranks, ranks) * size / (share * bandwidth)
    return LAUNCH + SWITCH.start + sent * ramp(size, SWITCH)


def switch_tree_all_reduce_time(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    share: Share,
    network: Transport = INFINIBAND,
    links: Bandwidth = inf,
) -> Seconds:
    """Return the time when switches add in every node, and a tree between nodes (NVLSTree).

    Of two nodes each sends the buffer once, of more each sends it twice; in a node it goes to the
    switch and back. The slower of the two sets the pace. The first chunk passes the whole tree
    before the last one has left.

    Source: NCCL's tuning.cc, and enqueue.cc for the chunks.
    """
    inside = -(-ranks // nodes)
    across = (size if nodes == 2 else 2 * size) / bandwidth
    sent = max(across, switch_buffers(ranks, inside) * size / (share * links))
    step = network.step + SWITCH_TREE_STEP
    latency = SWITCH_TREE + 2 * (nodes - 1).bit_length() * step
    return LAUNCH + latency + sent * (1 + _fill(size, inside, nodes, network))


def _fill(size: Bytes, heads: Count, nodes: Count, network: Transport) -> Ratio:
    """Return how much of the transfer passes until the last stage has the first chunk.

    The stages are the sum in the switch, the levels up and down, and the copy by the switch; all
    but one come before the last. Every GPU of a node is the head of a tree of its own.
    """
    parts = SWITCH_TREE_CHANNELS * heads
    chunk = max(network.switch_chunk, SWITCH_TREE_CHUNK) if nodes < 4 else network.switch_chunk
    for least, smaller in SWITCH_TREE_CHUNKS:
        if size < least * parts * chunk:
            chunk = min(chunk, smaller)
    return (2 * (nodes - 1).bit_length() + 1) * min(1.0, chunk * parts / size)
