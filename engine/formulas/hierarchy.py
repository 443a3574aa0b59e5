"""All-reduce over nodes of several GPUs: what stays inside a node and what leaves it."""

from engine.core.equation import Equation
from engine.core.units import Bandwidth, Bytes, Count, Seconds
from engine.formulas._symbols import symbols
from engine.formulas.communication import (
    in_network_bytes_sent,
    ring_all_gather_time,
    ring_all_reduce_time,
    ring_bytes_sent,
    ring_reduce_scatter_time,
)

HIERARCHICAL_ALL_REDUCE = Equation(
    name="hierarchical_all_reduce_time",
    tex=(
        r"\v{T} = \frac{2(\v{g}-1)}{\v{g}}\,\frac{\v{S}}{\v{Bu}} + 2(\v{g}-1)\,\v{au}"
        r" + \frac{2(\v{m}-1)}{\v{m}}\,\frac{\v{S}}{\v{Bo}} + 2(\v{m}-1)\,\v{ao}"
    ),
    symbols=symbols("T g S Bu au m Bo ao"),
    sources=("thakur2005",),
)


def hierarchical_all_reduce_time(
    size: Bytes,
    gpus_per_node: Count,
    num_nodes: Count,
    scale_up: Bandwidth,
    scale_up_latency: Seconds,
    scale_out: Bandwidth,
    scale_out_latency: Seconds,
) -> Seconds:
    """Return the time of reduce-scatter in the node, all-reduce across nodes, all-gather back.

    After the first phase each of the g GPUs of a node holds one g-th; it runs its own ring over
    the m nodes with its share of the node's network ports. `scale_up` is per GPU; `scale_out` is
    all ports of one node together (`node_bandwidth`), each one way.

    Source: composed of the ring formulas of Thakur et al. 2005. Limit: the phases follow one
    another; a pipelined implementation overlaps them and approaches the slowest phase alone.
    """
    inside = ring_reduce_scatter_time(
        size, gpus_per_node, scale_up, scale_up_latency
    ) + ring_all_gather_time(size, gpus_per_node, scale_up, scale_up_latency)
    across = ring_all_reduce_time(
        size / gpus_per_node, num_nodes, scale_out / gpus_per_node, scale_out_latency
    )
    return inside + across


HIERARCHICAL_BYTES = Equation(
    name="hierarchical_bytes_sent",
    tex=r"\v{V} = \frac{2(\v{m}-1)}{\v{m}}\,\frac{\v{S}}{\v{g}}",
    symbols=symbols("V m S g"),
    sources=("thakur2005",),
)


def hierarchical_bytes_sent(size: Bytes, gpus_per_node: Count, num_nodes: Count) -> Bytes:
    """Return what each GPU sends into the network: one g-th of what a flat ring makes it send."""
    return ring_bytes_sent(size / gpus_per_node, num_nodes)


SWITCHED_ALL_REDUCE = Equation(
    name="switched_all_reduce_time",
    tex=(
        r"\v{T} = \max\left(\frac{\v{g}+1}{\v{g}}\,\frac{\v{S}}{\v{Bu}},\;"
        r" \frac{\v{S}}{\v{Bo}}\right) + 2\,\v{au} + 2\,\v{ao}"
    ),
    symbols=symbols("T g S Bu Bo au ao"),
    sources=("graham2016", "nccl_tuning"),
    title="All-reduce in the switches of nodes and network",
)
SWITCHED_NETWORK = Equation(
    name="switched_network_time",
    tex=r"\v{T} = \frac{\v{S}}{\v{Bo}} + 2\,\v{ao}",
    symbols=symbols("T S Bo ao"),
    sources=("graham2016",),
    title="All-reduce in the switches of the network",
    says="The same for nodes of one GPU: no switch inside, and the network sets the pace.",
)


def switched_all_reduce_time(
    size: Bytes,
    gpus_per_node: Count,
    scale_up: Bandwidth,
    scale_up_latency: Seconds,
    scale_out: Bandwidth,
    scale_out_latency: Seconds,
) -> Seconds:
    """Return the time over several nodes when switches add: NVSwitch inside, the network between.

    The node's switch forms g sums of one g-th each (`in_network_all_reduce_time`), every GPU sends
    its own into the network once and receives the total once. Chunks stream through both, so the
    slower tier sets the pace. A node of one GPU has no switch: its port sends the buffer once and
    receives the sum once.

    Source: Graham et al. 2016 (SHARP); NCCL combines it with NVLS. Limit: a bound; the pipeline is
    taken as filled.
    """
    across = size / scale_out + 2 * scale_out_latency
    if gpus_per_node == 1:
        return across
    inside = in_network_bytes_sent(size, gpus_per_node) / scale_up
    return max(inside, size / scale_out) + 2 * scale_up_latency + 2 * scale_out_latency


SWITCHED_BYTES = Equation(
    name="switched_bytes_sent",
    tex=r"\v{V} = \frac{\v{S}}{\v{g}}",
    symbols=symbols("V S g"),
    sources=("graham2016",),
    title="Bytes sent out of a node when switches add",
)


def switched_bytes_sent(size: Bytes, gpus_per_node: Count) -> Bytes:
    """Return what each GPU sends into a network that adds: its g-th of the node's sum, once."""
    return size / gpus_per_node


def node_bandwidth(port: Bandwidth, ports_per_node: Count) -> Bandwidth:
    """Return the bandwidth of all network ports of a node together, one way."""
    return port * ports_per_node


def flat_ring_bandwidth(scale_up: Bandwidth, port: Bandwidth, ports_per_node: Count) -> Bandwidth:
    """Return the bandwidth of one ring through all GPUs of all nodes, per rank, one way.

    NCCL lays one ring (channel) per port, each entering and leaving a node once, so together they
    run at the speed of all ports of the node, but no faster than the links inside it.
    """
    return min(scale_up, node_bandwidth(port, ports_per_node))
