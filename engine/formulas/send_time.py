"""How long messages between two ranks take, and the exchanges made of them.

Arguments are those of `engine.formulas.transfer_time`.
"""

from engine.catalog.nccl_constants import MESSAGES_AT_ONCE
from engine.catalog.transports import INFINIBAND, LAUNCH, NVLINK, Transport
from engine.core.units import Bandwidth, Bytes, Count, Seconds


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
