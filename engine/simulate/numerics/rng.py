"""Seeded random sequences of the engine's own: the same seed gives the same numbers everywhere."""

import math
from collections.abc import Iterator
from itertools import islice

from engine.core.units import Count, Ratio, Share

# The low 64 bits of a number: what is left by dividing takes three times as long in a browser.
_LOW = 2**64 - 1


def chances(seed: int) -> Iterator[Share]:
    """Yield numbers evenly between 0 and 1, both excluded: a linear congruential sequence.

    Source: the multiplier and increment of Knuth's MMIX; only the high bits are used.
    """
    state = (seed * 2654435761 + 12345) & _LOW
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) & _LOW
        yield ((state >> 12) + 0.5) / 2.0**52


def normals(chance: Iterator[Share]) -> Iterator[Ratio]:
    """Yield normal numbers of mean 0 and deviation 1, two for every two even ones.

    Source: Box and Muller 1958.
    """
    while True:
        length = math.sqrt(-2 * math.log(next(chance)))
        angle = 2 * math.pi * next(chance)
        yield length * math.cos(angle)
        yield length * math.sin(angle)


def jittered(count: Count, deviation: Share, slower: Share, seed: int) -> tuple[Ratio, ...]:
    """Return one step of so many GPUs over an average step; the first GPU is the slow one.

    Twelve even numbers add up to nearly a normal one, with a deviation of one.
    """
    chance = chances(seed)
    times = [max(0.0, 1 + deviation * (sum(islice(chance, 12)) - 6)) for _ in range(count)]
    times[0] += 1 / (1 - slower) - 1
    return tuple(times)


def picks(count: Count, among: Count, seed: int) -> list[int]:
    """Return so many whole numbers from 0 to `among` - 1, each equally likely.

    The sequence of `chances`, written out: tens of thousands of picks are made at once.
    """
    state = (seed * 2654435761 + 12345) & _LOW
    found = []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) & _LOW
        found.append((state >> 32) * among >> 32)
    return found
