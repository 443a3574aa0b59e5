"""Published bandwidths of kernels that exchange tokens with experts."""

from dataclasses import dataclass
from typing import Literal

from engine.core.units import GB, Bandwidth, Count


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredExchange:
    """A row of DeepEP's table: H800 in nodes of 8, 4,096 tokens of 7,168 elements, 8 experts each.

    Attributes:
        ranks: that share 256 experts.
        groups: nodes that the experts of a token may lie in; the benchmark allows four at most.
        link: of which the bandwidth is printed.
        dispatch, combine: as printed: bytes over the time of the kernel. Over the network a token
            counts once per node that it goes to, its own node included.
    """

    ranks: Count
    groups: Count
    link: Literal["NVLink", "network"]
    dispatch: Bandwidth
    combine: Bandwidth


TOKENS, HIDDEN_SIZE, COPIES, PER_NODE = 4096, 7168, 8, 8
SOURCE = "deepep"
MEASURED_EXCHANGES = (
    MeasuredExchange(ranks=8, groups=1, link="NVLink", dispatch=153 * GB, combine=158 * GB),
    MeasuredExchange(ranks=16, groups=2, link="network", dispatch=43 * GB, combine=43 * GB),
    MeasuredExchange(ranks=32, groups=4, link="network", dispatch=58 * GB, combine=57 * GB),
    MeasuredExchange(ranks=64, groups=4, link="network", dispatch=51 * GB, combine=50 * GB),
)
