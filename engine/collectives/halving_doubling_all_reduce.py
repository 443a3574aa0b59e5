"""Recursive halving and doubling: a logarithm of rounds, the bytes of a ring (Thakur et al. 2005).

The largest halves go to the nearest ranks ("vector halving, distance doubling"), which keeps most
bytes inside a node. If the ranks are no power of two, as many as are too many hand their buffer to
a neighbor before, and get the sum from it afterwards.
"""

from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Halving-doubling"
OPERATION = "all_reduce"


def chunks(world_size: Count) -> Count:
    """Return the number of chunks: one per rank, of the largest power of two that fits."""
    return _power(world_size)


def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round: halves with the neighbor, then quarters, and back."""
    power = _power(world_size)
    spare = range(world_size - power)
    distances = [1 << turn for turn in range(power.bit_length() - 1)]
    before = [(2 * i, 2 * i + 1, chunk) for i in spare for chunk in range(power)]
    after = [(target, source, chunk) for source, target, chunk in before]
    exchanges = [(before, True)] if before else []
    exchanges += [(_exchange(world_size, distance, halving=True), True) for distance in distances]
    exchanges += [
        (_exchange(world_size, distance, halving=False), False) for distance in reversed(distances)
    ]
    exchanges += [(after, False)] if after else []
    return tuple(
        tuple(
            Transfer(source=source, target=target, chunk=chunk, reduce=reduce)
            for source, target, chunk in messages
        )
        for messages, reduce in exchanges
    )


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by the busiest rank: as in a ring, plus one buffer for a neighbor."""
    power = _power(world_size)
    return 2 * (power - 1) / power * size + (size if power < world_size else 0.0)


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds: two logarithms, and two more for ranks that are too many."""
    power = _power(world_size)
    return 2 * (power.bit_length() - 1) + (2 if power < world_size else 0)


def _exchange(world_size: int, distance: int, *, halving: bool) -> list[tuple[int, int, int]]:
    """Return (source, target, chunk) of a round between places `distance` apart.

    Place i is left with the chunks that agree with i in their last bits, one bit more in every
    round. Halving sends those that the partner keeps; doubling sends those one holds.
    """
    power, messages = _power(world_size), []
    for position in range(power):
        partner = position ^ distance
        first = (partner if halving else position) % (2 * distance)
        ends = _rank(position, world_size), _rank(partner, world_size)
        messages += [(*ends, chunk) for chunk in range(first, power, 2 * distance)]
    return messages


def _rank(position: int, world_size: int) -> int:
    """Return the rank at a place of the exchange; surplus ranks are skipped."""
    spare = world_size - _power(world_size)
    return 2 * position + 1 if position < spare else position + spare


def _power(world_size: int) -> int:
    return 1 << (world_size.bit_length() - 1)
