"""Bandwidth: what a measured time says about the wire, and what two measured times say."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from engine.core.equation import Equation
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds
from engine.formulas._symbols import symbols
from engine.formulas.communication import point_to_point_time, tree_depth

Operation = Literal[
    "all_reduce",
    "reduce_scatter",
    "all_gather",
    "all_to_all",
    "broadcast",
    "reduce",
    "send_receive",
    "gather",
    "scatter",
]
# Each rank keeps its own part, and sends or receives the others.
_PARTS = ("reduce_scatter", "all_gather", "all_to_all", "gather", "scatter")

ALGORITHM_BANDWIDTH = Equation(
    name="algorithm_bandwidth",
    tex=r"\v{Ba} = \frac{\v{S}}{\v{T}}",
    symbols=symbols("Ba S T"),
    sources=("nccl_tests",),
)


def algorithm_bandwidth(size: Bytes, time: Seconds) -> Bandwidth:
    """Return buffer over time, as nccl-tests prints it; it falls with the number of ranks."""
    return size / time


BUS_BANDWIDTH = Equation(
    name="bus_bandwidth",
    tex=r"\v{Bb} = \v{f}\,\frac{\v{S}}{\v{T}}",
    symbols=symbols("Bb f S T"),
    sources=("nccl_tests",),
)


def bus_bandwidth(size: Bytes, time: Seconds, operation: Operation, world_size: Count) -> Bandwidth:
    """Return algorithm bandwidth times the operation's factor: comparable with a line rate.

    Source: performance notes of nccl-tests. Limit: assumes ranks that add; where the switch adds
    (NVLS, SHARP) it may exceed the line rate.
    """
    return bus_bandwidth_factor(operation, world_size) * algorithm_bandwidth(size, time)


def bus_bandwidth_factor(operation: Operation, world_size: Count) -> Ratio:
    """Return the factor from algorithm to bus bandwidth: buffers each port must carry at least.

    Source: performance notes of nccl-tests, and `GetBw` of each test for the last three.

    Raises:
        ValueError: the operation is unknown; the message lists those there are.
    """
    if operation == "all_reduce":
        return 2 * (world_size - 1) / world_size
    if operation in _PARTS:
        return (world_size - 1) / world_size
    if operation in ("broadcast", "reduce", "send_receive"):
        return 1.0
    raise ValueError(f"no operation '{operation}'; there are {', '.join(get_args(Operation))}")


def largest_buffer(limit: Seconds, bandwidth: Bandwidth, world_size: Count) -> Bytes:
    """Return the buffer whose ring all-reduce takes `limit`, latencies left out.

    Source: as `bus_bandwidth`, solved for the buffer: a port carries factor times buffer.
    """
    return limit * bandwidth / bus_bandwidth_factor("all_reduce", world_size)


CROSSOVER = Equation(
    name="ring_tree_crossover_size",
    tex=(
        r"\v{Sc} = \v{n}\left(\v{n} - 1"
        r" - \left\lceil \log_2 \v{n} \right\rceil\right)\v{a}\,\v{B}"
    ),
    symbols=symbols("Sc n a B"),
    sources=("sanders2009", "thakur2005"),
)


def ring_tree_crossover_size(world_size: Count, bandwidth: Bandwidth, latency: Seconds) -> Bytes:
    """Return the size at which a ring and a double tree all-reduce take the same time.

    Below it the tree is faster, above it the ring. Equate the two formulas: the ring saves
    2S/(nB) of the bandwidth part and pays 2(n - 1 - ceil(log2 n)) more latencies.
    """
    return world_size * (world_size - 1 - tree_depth(world_size)) * latency * bandwidth


HALF_SIZE = Equation(
    name="half_bandwidth_size",
    tex=r"\v{Sh} = \v{a}\,\v{B}",
    symbols=symbols("Sh a B"),
    sources=("hockney1994",),
)


def half_bandwidth_size(bandwidth: Bandwidth, latency: Seconds) -> Bytes:
    """Return the message size that reaches half of the bandwidth. Source: Hockney 1994."""
    return latency * bandwidth


FIT = Equation(
    name="fit_two_points",
    tex=(
        r"\v{B} = \frac{\v{S2} - \v{Sa}}{\v{T2} - \v{Ta}}, \qquad"
        r" \v{a} = \v{Ta} - \frac{\v{Sa}}{\v{B}}, \qquad \v{Sh} = \v{a}\,\v{B}"
    ),
    symbols=symbols("B S2 Sa T2 Ta a Sh"),
    sources=("hockney1994",),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Latency and bandwidth of the line through two measured points.

    Attributes:
        latency: time of an empty message.
        bandwidth: reached by infinitely large messages.
        half_size: message size that reaches half of it.
    """

    latency: Seconds
    bandwidth: Bandwidth
    half_size: Bytes

    def reached(self, size: Bytes) -> Bandwidth:
        """Return size over time of one message on the fitted link."""
        return algorithm_bandwidth(size, point_to_point_time(size, self.bandwidth, self.latency))


def fit_two_points(
    first_size: Bytes, first_time: Seconds, second_size: Bytes, second_time: Seconds
) -> Fit:
    """Return latency, bandwidth and half size from two messages, given in either order.

    Source: Hockney 1994. Limit: two points always lie on a line; that the model holds between
    them only a third can tell.

    Raises:
        ValueError: the points admit no positive bandwidth, or no latency of zero or more.
    """
    if first_size == second_size:
        raise ValueError(f"both sizes are {first_size:g} bytes; two different sizes are needed")
    per_byte = (second_time - first_time) / (second_size - first_size)
    if per_byte <= 0:
        raise ValueError(
            f"{max(first_size, second_size):g} bytes take no longer than"
            f" {min(first_size, second_size):g} bytes: no positive bandwidth fits"
        )
    latency = first_time - first_size * per_byte
    # Rounding may leave a proportional pair a hair below zero; that is a latency of zero.
    if latency < 0 and not math.isclose(first_time, first_size * per_byte, rel_tol=1e-9):
        raise ValueError(
            f"the latency would be {latency:g} s; time must grow less than in proportion to size"
        )
    latency = max(latency, 0.0)
    return Fit(latency=latency, bandwidth=1 / per_byte, half_size=latency / per_byte)
