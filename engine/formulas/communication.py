"""How long collectives take: the latency-bandwidth model of point-to-point messages and rings.

All times are for one rank per port, full-duplex ports, no contention and free arithmetic. `size`
is the whole buffer of a rank; a world of one rank communicates nothing.
"""

from engine.core.equation import Equation
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds
from engine.formulas._symbols import symbols

POINT_TO_POINT = Equation(
    name="point_to_point_time",
    tex=r"\v{T} = \v{a} + \frac{\v{S}}{\v{B}}",
    symbols=symbols("T a S B"),
    sources=("hockney1994",),
)


def point_to_point_time(size: Bytes, bandwidth: Bandwidth, latency: Seconds) -> Seconds:
    """Return the time of one message: a fixed latency plus its size over the bandwidth.

    Source: Hockney 1994. Limit: real links switch protocols with size, so one pair of constants
    fits a range of sizes only.
    """
    return latency + size / bandwidth


RING_ALL_REDUCE = Equation(
    name="ring_all_reduce_time",
    tex=r"\v{T} = \frac{2(\v{n}-1)}{\v{n}}\,\frac{\v{S}}{\v{B}} + 2(\v{n}-1)\,\v{a}",
    symbols=symbols("T n S B a"),
    sources=("patarasuk2009", "thakur2005", "nccl_tests"),
)


def ring_all_reduce_time(
    size: Bytes, world_size: Count, bandwidth: Bandwidth, latency: Seconds = 0.0
) -> Seconds:
    """Return the time of a ring all-reduce: 2(n - 1) steps of one n-th of the buffer each.

    Source: Patarasuk and Yuan 2009 (no all-reduce sends less); bandwidth part as in the
    performance notes of nccl-tests. Limit: its latency part grows with every rank.
    """
    return ring_bytes_sent(size, world_size) / bandwidth + 2 * (world_size - 1) * latency


RING_BYTES = Equation(
    name="ring_bytes_sent",
    tex=r"\v{V} = \frac{2(\v{n}-1)}{\v{n}}\,\v{S}",
    symbols=symbols("V n S"),
    sources=("patarasuk2009",),
)


def ring_bytes_sent(size: Bytes, world_size: Count) -> Bytes:
    """Return what every rank sends (and receives) in a ring all-reduce; 2S for many ranks.

    Source: Patarasuk and Yuan 2009, the lower bound of any all-reduce without help of a switch.
    """
    return 2 * (world_size - 1) / world_size * size


RING_HALF = Equation(
    name="ring_half_time",
    tex=r"\v{T} = \frac{\v{n}-1}{\v{n}}\,\frac{\v{S}}{\v{B}} + (\v{n}-1)\,\v{a}",
    symbols=symbols("T n S B a"),
    sources=("thakur2005", "nccl_tests"),
)


def ring_reduce_scatter_time(
    size: Bytes, world_size: Count, bandwidth: Bandwidth, latency: Seconds = 0.0
) -> Seconds:
    """Return the time of a ring reduce-scatter: n - 1 steps of one n-th of the buffer each.

    `size` is the buffer before it is scattered. Source: Thakur et al. 2005.
    """
    steps = world_size - 1
    return steps / world_size * size / bandwidth + steps * latency


def ring_all_gather_time(
    size: Bytes, world_size: Count, bandwidth: Bandwidth, latency: Seconds = 0.0
) -> Seconds:
    """Return the time of a ring all-gather: n - 1 steps of one n-th of the buffer each.

    `size` is the buffer after it is gathered. Source: Thakur et al. 2005.
    """
    steps = world_size - 1
    return steps / world_size * size / bandwidth + steps * latency


TREE_ALL_REDUCE = Equation(
    name="tree_all_reduce_time",
    tex=(
        r"\v{T} = \frac{2\,\v{S}}{\v{B}}"
        r" + 2\left\lceil \log_2 \v{n} \right\rceil\,\v{a}"
    ),
    symbols=symbols("T S B n a"),
    sources=("sanders2009", "nccl_tuning"),
)


def tree_depth(world_size: Count) -> Count:
    """Return the hops from the deepest leaf of a binary tree of n ranks to its root, ceil(log2 n).

    The tree is the in-order one of Sanders et al. 2009, whose root has a single child.
    """
    return (world_size - 1).bit_length()


def tree_all_reduce_time(
    size: Bytes, world_size: Count, bandwidth: Bandwidth, latency: Seconds = 0.0
) -> Seconds:
    """Return the time of a double binary tree all-reduce, up and down, each tree with one half.

    A rank with two children in one tree is a leaf in the other, so it sends and receives 2S: the
    tuner of NCCL likewise takes a tree's bus bandwidth to be twice its algorithm bandwidth. Up to
    three ranks send less than that, and the formula is an upper bound.

    Source: Sanders et al. 2009; NCCL's tuning.cc. Limit: the pipeline is taken as filled. Cut into
    k pieces, the trees need 2 depth + k - 1 rounds, of which k at most are full; more pieces fill
    it better and pay one latency each. NCCL also walks a node as a chain and counts the logarithm
    over nodes only.
    """
    return tree_bytes_sent(size, world_size) / bandwidth + 2 * tree_depth(world_size) * latency


TREE_BYTES = Equation(
    name="tree_bytes_sent",
    tex=r"\v{V} = 2\,\v{S}",
    symbols=symbols("V S"),
    sources=("sanders2009",),
)


def tree_bytes_sent(size: Bytes, world_size: Count) -> Bytes:
    """Return what the busiest rank of a double binary tree sends, from four ranks on (else less).

    Source: Sanders et al. 2009.
    """
    return 2 * size if world_size > 1 else 0.0


STAR_ALL_REDUCE = Equation(
    name="star_all_reduce_time",
    tex=r"\v{T} = \frac{2(\v{n}-1)\,\v{S}}{\v{B}} + 2\,\v{a}",
    symbols=symbols("T n S B a"),
    sources=("hockney1994",),
)


def star_all_reduce_time(
    size: Bytes, world_size: Count, bandwidth: Bandwidth, latency: Seconds = 0.0
) -> Seconds:
    """Return the time when all ranks send to one root, which adds and sends the sum to all.

    Model: the port of the root is the only bottleneck; it takes n - 1 buffers in, then sends
    n - 1 out, and the two directions do not overlap. Derived from Hockney 1994, message by message.
    """
    hops = 2 if world_size > 1 else 0
    return 2 * star_bytes_sent(size, world_size) / bandwidth + hops * latency


def star_bytes_sent(size: Bytes, world_size: Count) -> Bytes:
    """Return what the root of a star sends, and as much again that it receives: O(n) buffers."""
    return (world_size - 1) * size


IN_NETWORK_ALL_REDUCE = Equation(
    name="in_network_all_reduce_time",
    tex=r"\v{T} = \frac{\v{n}+1}{\v{n}}\,\frac{\v{S}}{\v{B}} + 2\,\v{a}",
    symbols=symbols("T n S B a"),
    sources=("graham2016", "bekman2025"),
)


def in_network_all_reduce_time(
    size: Bytes, world_size: Count, bandwidth: Bandwidth, latency: Seconds = 0.0
) -> Seconds:
    """Return the time of an all-reduce whose sums are formed in the switch (NVLS).

    Every rank owns one n-th: it pulls the sum of its part through the switch and multicasts it.
    Each rank so sends its S once and the sum of its own part once, and receives as much.

    Source: Graham et al. 2016 for the principle. Limit: a bound. On 8 H200 the gain over a ring
    was measured as 1.29 where `in_network_gain` allows 1.56, and there is none for all-gather and
    reduce-scatter alone.
    """
    hops = 2 if world_size > 1 else 0
    return in_network_bytes_sent(size, world_size) / bandwidth + hops * latency


IN_NETWORK_BYTES = Equation(
    name="in_network_bytes_sent",
    tex=r"\v{V} = \frac{\v{n}+1}{\v{n}}\,\v{S}",
    symbols=symbols("V n S"),
    sources=("graham2016", "bekman2025"),
)


def in_network_bytes_sent(size: Bytes, world_size: Count) -> Bytes:
    """Return what every rank sends (and receives) when the switch adds: S(n + 1)/n."""
    return (world_size + 1) / world_size * size if world_size > 1 else 0.0


def in_network_gain(world_size: Count) -> Ratio:
    """Return the largest speed-up of in-network reduction over a ring: 2(n - 1)/(n + 1).

    Two ranks gain nothing (0.67), eight at most 1.56, many at most 2.
    """
    return 2 * (world_size - 1) / (world_size + 1)
