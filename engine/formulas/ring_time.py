"""How long rings of NCCL take in Simple, the protocol for large messages.

Arguments are those of `engine.formulas.transfer_time`.
"""

from engine.catalog.transports import INFINIBAND, LAUNCH, NVLINK, Transport
from engine.core.equation import Equation
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds

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


def network_step(size: Bytes, network: Transport) -> Seconds:
    """Return the latency from node to node: below the eager limit without asking first."""
    return network.step_eager if size <= network.eager else network.step


def ring_latency(size: Bytes, ranks: Count, nodes: Count, network: Transport) -> Seconds:
    """Return the latency of one round of a ring, from rank to rank and from node to node."""
    across = nodes * network_step(size, network) if nodes > 1 else 0.0
    return (ranks - nodes) * NVLINK.step + across


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
