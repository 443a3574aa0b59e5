"""What no all-reduce can avoid: bytes through every port, and how other schemes compare."""

from engine.core.equation import Equation
from engine.core.units import Bytes, Count, Ratio, Seconds
from engine.formulas._symbols import symbols
from engine.formulas.communication import ring_bytes_sent

FACTOR = Equation(
    name="all_reduce_factor",
    tex=r"\v{f} = \frac{2(\v{n}-1)}{\v{n}}",
    symbols=symbols("f n"),
    sources=("patarasuk2009", "nccl_tests"),
    title="Bus bandwidth factor of an all-reduce",
)


def all_reduce_factor(world_size: Count) -> Ratio:
    """Return how many buffers a port must send at least: 1 for two ranks, nearly 2 for many.

    Source: Patarasuk and Yuan 2009. Limit: ranks that add; a switch that adds needs about one.
    """
    return 2 * (world_size - 1) / world_size


STAR_PORT = Equation(
    name="star_port_bytes",
    tex=r"\v{V} = 2(\v{n}-1)\,\v{S}",
    symbols={**symbols("n S"), "V": ("V", "bytes through the port of the root, both ways")},
    sources=("patarasuk2009",),
    title="Bytes through the port of a star's root",
)


def star_port_bytes(size: Bytes, world_size: Count) -> Bytes:
    """Return what passes the port of a star's root, in and out together.

    The second half cannot start before the first has ended, so both count. Derivation: n - 1
    buffers come in, n - 1 copies of the sum go out.
    """
    return 2 * (world_size - 1) * size


RING_LATENCY = Equation(
    name="ring_latency_part",
    tex=r"\v{T} = 2(\v{n}-1)\,\v{a}",
    symbols=symbols("T n a"),
    sources=("thakur2005",),
    title="Latency of a ring all-reduce",
)


def ring_latency_part(world_size: Count, latency: Seconds) -> Seconds:
    """Return the time of a ring all-reduce on an empty buffer. Source: Thakur et al. 2005."""
    return 2 * (world_size - 1) * latency


def ring_total_bytes(size: Bytes, world_size: Count) -> Bytes:
    """Return what all ranks of a ring send together: as much as all of a star, 2(n - 1) buffers.

    Source: n times the bytes of one rank (Patarasuk and Yuan 2009).
    """
    return world_size * ring_bytes_sent(size, world_size)


def exchange_total_bytes(size: Bytes, world_size: Count) -> Bytes:
    """Return what is sent if every rank sends its whole buffer to every other: O(n^2) buffers.

    Derivation: n(n - 1) messages of one buffer.
    """
    return world_size * (world_size - 1) * size
