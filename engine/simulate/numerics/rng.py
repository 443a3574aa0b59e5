"""Seeded random sequences that are the same on every platform."""

import math
from collections.abc import Iterator
from itertools import islice

from engine.core.units import Count, Ratio, Share

# Mask of the low 64 bits; a modulo takes three times as long in a browser.
_LOW = 2**64 - 1


def uniforms(seed: int) -> Iterator[Share]:
    """Yield uniform numbers between 0 and 1, both excluded: a linear congruential sequence.

    Source: the multiplier and increment of Knuth's MMIX; only the high bits are used.
    """
    state = (seed * 2654435761 + 12345) & _LOW
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) & _LOW
        yield ((state >> 12) + 0.5) / 2.0**52


def normals(chance: Iterator[Share]) -> Iterator[Ratio]:
    """Yield standard normal numbers, two for every two uniform ones.

    Source: Box and Muller 1958.
    """
    while True:
        length = math.sqrt(-2 * math.log(next(chance)))
        angle = 2 * math.pi * next(chance)
        yield length * math.cos(angle)
        yield length * math.sin(angle)


def jittered_step_times(
    count: Count, deviation: Share, slower: Share, seed: int
) -> tuple[Ratio, ...]:
    """Return the step times of `count` GPUs over an average step; the first GPU is the slow one.

    The sum of twelve uniform numbers is nearly normal, with a deviation of one.
    """
    chance = uniforms(seed)
    times = [max(0.0, 1 + deviation * (sum(islice(chance, 12)) - 6)) for _ in range(count)]
    times[0] += 1 / (1 - slower) - 1
    return tuple(times)


def random_integers(count: Count, among: Count, seed: int) -> list[int]:
    """Return `count` uniform random integers from 0 to `among` - 1.

    The sequence of `uniforms`, written out: tens of thousands of picks are made at once.
    """
    state = (seed * 2654435761 + 12345) & _LOW
    integers = []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) & _LOW
        integers.append((state >> 32) * among >> 32)
    return integers
