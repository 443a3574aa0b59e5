"""How long collectives of NCCL take in LL, the protocol for small messages.

Arguments are those of `engine.formulas.transfer_time`.
"""

from math import hypot

from engine.catalog.nccl_constants import SMALL_ON_MORE, SMALL_ON_TWO, SMALL_STEP_BETWEEN
from engine.catalog.transports import INFINIBAND, LAUNCH, NVLINK, Transport
from engine.core.units import Bandwidth, Bytes, Count, Seconds


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
