"""How long collectives of NCCL take: rings, trees and switches that add, by size of the message.

`size` is the whole buffer of a rank: before a reduce-scatter, after an all-gather. `bandwidth` is
the bus bandwidth of large messages, one way: that of the scale-up links inside a node, that of the
group's share of the network ports between nodes. Latencies are those NCCL's tuner plans with.
"""

from engine.equation import Equation
from engine.units import MICRO, Bandwidth, Bytes, Count, MiB, Ratio, Seconds, Share

# The start of a collective and one step of it: LL, the protocol for small messages (eight bytes
# with a flag in every sixteen), and LL128 and Simple for the others. Start, step and share of LL
# inside a node are those NCCL's tuner plans with; the others are fitted to measured all-reduce of
# 8 A100 and 8 H200, and between nodes to the published example of four nodes.
LAUNCH: Seconds = 12.5 * MICRO  # of the kernel, and until all ranks have arrived
START_LL: Seconds = 6.6 * MICRO
START: Seconds = 9.5 * MICRO
STEP_LL: Seconds = 0.6 * MICRO
STEP: Seconds = 1.5 * MICRO
NETWORK_STEP_LL: Seconds = 10.0 * MICRO
NETWORK_STEP: Seconds = 8.7 * MICRO
SWITCH: Seconds = 22.0 * MICRO  # NVLS: one collective in the switch
LL_SHARE: Share = 0.38  # of the bandwidth of large messages: 88 of 235, 141 of 370 GB/s
SWITCH_GAIN: Ratio = 1.31  # bus bandwidth with NVLS over that of a ring; 1.56 would be ideal

# Large messages are cut into chunks for all channels; until the pipeline of chunks is full the
# links idle. Of a message so much is sent at less than full speed, and it takes that size to get
# there. Fitted likewise.
RAMP: Bytes = 36 * MiB
RAMP_SCALE: Bytes = 35 * MiB
RAMP_ACROSS: Bytes = 6 * MiB
SWITCH_RAMP: Bytes = 18 * MiB
SWITCH_RAMP_SCALE: Bytes = 24 * MiB

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


def ramp(size: Bytes, nodes: Count) -> Ratio:
    """Return how much longer a message takes than at the bandwidth of large messages."""
    return 1 + (RAMP if nodes == 1 else RAMP_ACROSS) / (size + RAMP_SCALE)


def ring_latency(ranks: Count, nodes: Count) -> Seconds:
    """Return the latency of one round of a ring, from rank to rank and from node to node."""
    return (ranks - nodes) * STEP + (nodes if nodes > 1 else 0) * NETWORK_STEP


def scatter_or_gather_time(
    size: Bytes, ranks: Count, nodes: Count, bandwidth: Bandwidth
) -> Seconds:
    """Return the time of a reduce-scatter or an all-gather: one round of a ring.

    Over many nodes the latency of a ring would grow with their number; NCCL then takes its tree
    of nodes (PAT), whose latency grows with the logarithm. Half of an all-reduce ramps up as far
    as half of its pipeline.

    Source: NCCL's tuning.cc; NCCL 2.23 (PAT).
    """
    if ranks <= 1 or size <= 0:
        return 0.0
    share = (ranks - 1) / ranks * size / bandwidth
    latency = min(ring_latency(ranks, nodes), tree_latency(ranks, nodes))
    ramped = (1 + ramp(size, nodes)) / 2
    small = LAUNCH + START_LL + small_latency(ranks, nodes) + share / LL_SHARE
    return min(LAUNCH + START + latency + share * ramped, small)


def tree_latency(ranks: Count, nodes: Count) -> Seconds:
    """Return the latency up (or down) a tree of nodes, each of which is a chain of its ranks."""
    per_node = -(-ranks // nodes)
    return (per_node - 1) * STEP + (nodes - 1).bit_length() * NETWORK_STEP


def small_latency(ranks: Count, nodes: Count) -> Seconds:
    """Return the latency up (or down) a tree in the protocol for small messages."""
    per_node = -(-ranks // nodes)
    return (per_node - 1) * STEP_LL + (nodes - 1).bit_length() * NETWORK_STEP_LL


def ring_all_reduce_ramped_time(
    size: Bytes, ranks: Count, nodes: Count, bandwidth: Bandwidth
) -> Seconds:
    """Return the time of a ring all-reduce: two rounds. Source: NCCL's tuning.cc."""
    share = 2 * (ranks - 1) / ranks * size / bandwidth
    return LAUNCH + START + 2 * ring_latency(ranks, nodes) + share * ramp(size, nodes)


def tree_all_reduce_ramped_time(
    size: Bytes, ranks: Count, nodes: Count, bandwidth: Bandwidth
) -> Seconds:
    """Return the time of a double binary tree of nodes, each of them a chain of its ranks.

    Of two nodes each sends the buffer once, of more each sends it twice. Source: NCCL's tuning.cc.
    """
    sent = size if nodes == 2 else 2 * size
    return LAUNCH + START + 2 * tree_latency(ranks, nodes) + sent / bandwidth * ramp(size, nodes)


def small_all_reduce_time(size: Bytes, ranks: Count, nodes: Count, bandwidth: Bandwidth) -> Seconds:
    """Return the time of an all-reduce in the protocol for small messages (LL, as a tree)."""
    share = 2 * (ranks - 1) / ranks * size / (bandwidth * LL_SHARE)
    return LAUNCH + START_LL + 2 * small_latency(ranks, nodes) + share


def switch_all_reduce_time(size: Bytes, ranks: Count, bandwidth: Bandwidth) -> Seconds:
    """Return the time when the switch of the node adds (NVLS), `bandwidth` that of a ring.

    Every rank sends and receives (n + 1)/n buffers instead of 2(n - 1)/n.

    Source: the measured all-reduce of 8 H200 (480 against 370 GB/s); NCCL's tuning.cc (latency).
    """
    share = 2 * (ranks - 1) / ranks * size / (SWITCH_GAIN * bandwidth)
    return LAUNCH + SWITCH + share * (1 + SWITCH_RAMP / (size + SWITCH_RAMP_SCALE))


def all_reduce_time(
    size: Bytes, ranks: Count, nodes: Count, bandwidth: Bandwidth, switch_adds: bool = False
) -> Seconds:
    """Return the time of an all-reduce with the algorithm and protocol that is fastest."""
    if ranks <= 1 or size <= 0:
        return 0.0
    times = [
        ring_all_reduce_ramped_time(size, ranks, nodes, bandwidth),
        small_all_reduce_time(size, ranks, nodes, bandwidth),
    ]
    if nodes > 1:
        times.append(tree_all_reduce_ramped_time(size, ranks, nodes, bandwidth))
    elif switch_adds and ranks > 2:
        times.append(switch_all_reduce_time(size, ranks, bandwidth))
    return min(times)


def send_time(size: Bytes, bandwidth: Bandwidth, nodes: Count) -> Seconds:
    """Return the time of one message to the next stage, in the node (1) or in another one (2)."""
    return LAUNCH + (STEP if nodes == 1 else NETWORK_STEP) + size / bandwidth
