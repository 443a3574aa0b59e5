"""NCCL's planned times over nodes, by which it chooses algorithm and protocol.

What it plans is not what they take. Arguments are those of `engine.formulas.transfer_time`. Every
constant is one of NCCL's tuning.cc; latency and host are what the network's plug-in declares and
what NCCL plans for the processors that such machines have.
"""

from engine.catalog.nccl_constants import (
    MEDIUM_DATA,
    MEDIUM_SHARE,
    MEDIUM_START,
    MEDIUM_STEP,
    MEDIUM_TREE_STEP,
    PAT_OVERLAP,
    PAT_RANK,
    PAT_SHARE,
    PAT_START,
    SMALL_ON_MORE,
    SMALL_ON_TWO,
    SWITCH_TREE,
    TREE_SHARE,
)
from engine.catalog.transports import NVLINK, Transport
from engine.core.units import GB, MICRO, Bandwidth, Bytes, Count, Ratio, Seconds
from engine.formulas.medium_time import channels, planned_share
from engine.formulas.tree_time import tree_pattern

# One step between nodes in LL, LL128 and Simple: of rings, and of trees (hwLatencies).
_RING: tuple[Seconds, Seconds, Seconds] = (2.7 * MICRO, 4.0 * MICRO, 14 * MICRO)
_TREE: tuple[Seconds, Seconds, Seconds] = (5.0 * MICRO, 8.5 * MICRO, 14 * MICRO)
_SWITCH_TREE_STEP: Seconds = 20.9 * MICRO
# One step in a node in Simple, of a ring and of a tree; starts of a tree.
_RING_STEP: Seconds = 3.4 * MICRO
_TREE_STEP: Seconds = 4.0 * MICRO
_TREE_START: Seconds = 6.8 * MICRO
# Bandwidths of one channel on Hopper, on two nodes and on more: rings and trees in LL128, trees in
# Simple, trees of switches (perChMaxRingLL128Bws and so on).
_RING_CHANNEL: Bandwidth = 36.7 * GB
_MEDIUM_TREE_CHANNEL: tuple[Bandwidth, Bandwidth] = (36.7 * GB, 29.0 * GB)
_TREE_CHANNEL: tuple[Bandwidth, Bandwidth] = (41.4 * GB, 36.0 * GB)
_SWITCH_CHANNEL: tuple[Bandwidth, Bandwidth] = (57.7 * GB, 45.5 * GB)
# What NCCL plans that ports of 50 GB/s carry, over what they do (search.cc; `constants.py`).
_PLANNED: Ratio = 0.96 / 0.88
# What a ring in Simple waits longer for its steps in an all-reduce ("plateau effect").
_PLATEAU: Ratio = 1.4


def _rings(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport,
    rounds: Count,
) -> dict[str, Seconds]:
    """Return the planned time of rings that go around once or twice."""
    bandwidth *= _PLANNED
    inside, across = rounds * (ranks - nodes), rounds * (nodes - 1)
    step = _TREE if ranks == nodes else _RING
    small, medium, large = (latency + network.declared for latency in step)
    wire = rounds * (ranks - 1) / ranks * size
    slow = min(0.5 * bandwidth, SMALL_ON_TWO if nodes == 2 else SMALL_ON_MORE)
    start = NVLINK.start + inside * max(_RING_STEP, 3 * network.post)
    start += across * (large + network.declared)
    times = {"Ring Simple": (_PLATEAU if rounds == 2 else 1.0) * start + wire / bandwidth}
    if network.share_small:
        steps = inside * max(NVLINK.step_small, network.post) + across * small
        times["Ring LL"] = NVLINK.start_small + steps + wire / slow
    if network.medium:
        rate = min(MEDIUM_SHARE * bandwidth, channels(ranks, nodes) / 2 * _RING_CHANNEL)
        steps = inside * max(MEDIUM_STEP, network.post) + across * medium
        times["Ring LL128"] = MEDIUM_START + steps + wire / rate
    return times


def planned_halves(
    size: Bytes, ranks: Count, nodes: Count, bandwidth: Bandwidth, network: Transport
) -> dict[str, Seconds]:
    """Return "algorithm protocol" -> planned time of a reduce-scatter or an all-gather."""
    times = _rings(size, ranks, nodes, bandwidth, network, 1)
    if ranks == nodes:
        step = _TREE[2] + 2 * network.declared
        latency = (nodes.bit_length() - 1) * step / PAT_OVERLAP + ranks * PAT_RANK
        times["PAT Simple"] = PAT_START + latency + size / (PAT_SHARE * _PLANNED * bandwidth)
    return times


def planned_all_reduces(
    size: Bytes,
    ranks: Count,
    nodes: Count,
    bandwidth: Bandwidth,
    network: Transport,
    links: Bandwidth,
) -> dict[str, Seconds]:
    """Return "algorithm protocol" -> planned time of an all-reduce, on Hopper and later.

    Of two nodes a tree sends the buffer over the ports once: it may be twice as fast as a ring.
    LL in a ring is left out, as it is from what can run.
    """
    times = _rings(size, ranks, nodes, bandwidth, network, 2)
    times.pop("Ring LL", None)
    several, levels, count = nodes > 2, nodes.bit_length() - 1, channels(ranks, nodes) / 2
    bandwidth *= _PLANNED
    wide = bandwidth if several else min(2 * bandwidth, links)
    pattern, inside = tree_pattern(network), -(-ranks // nodes) - 1
    rate = min(TREE_SHARE * wide, count * _TREE_CHANNEL[several])
    large = _TREE[2] + 2 * network.declared
    latency = 2 * (inside * _TREE_STEP + levels * large)
    share = pattern * planned_share(size, "Simple") / 2
    times["Tree Simple"] = NVLINK.start + latency + size / (rate * share)
    if network.share_small:
        slow = min(rate / 3.8, SMALL_ON_MORE if several else SMALL_ON_TWO)
        latency = 2 * (inside * NVLINK.step_small + levels * (_TREE[0] + network.declared))
        share = pattern * planned_share(size, "LL") / 2
        times["Tree LL"] = _TREE_START + latency + size / (slow * share)
    if network.medium:
        medium = min(rate * MEDIUM_DATA, count * _MEDIUM_TREE_CHANNEL[several])
        latency = 2 * (inside * MEDIUM_TREE_STEP + levels * (_TREE[1] + network.declared))
        share = pattern * planned_share(size, "LL128") / 2
        times["Tree LL128"] = MEDIUM_START + latency + size / (medium * share)
    switches = min(bandwidth if several else 2 * bandwidth, count * _SWITCH_CHANNEL[several])
    step = _SWITCH_TREE_STEP + 2 * network.declared
    wire = 2 * (ranks - 1) / ranks * size / switches
    times["NVLSTree Simple"] = SWITCH_TREE + 2 * levels * step + wire
    return times
