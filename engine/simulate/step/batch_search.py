"""The largest batch by trial: double until memory runs out, then halve the gap."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.core.units import Bytes, Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One attempt.

    Attributes:
        batch: that was tried.
        needed: memory that it takes.
        fits: whether that is there.
        low: the largest batch known to fit after this attempt; 0: none.
        high: the smallest batch known not to fit; 0: none yet.
    """

    batch: Count
    needed: Bytes
    fits: bool
    low: Count
    high: Count


def search(needed: Callable[[Count], Bytes], capacity: Bytes, limit: Count) -> tuple[Probe, ...]:
    """Return every attempt, the first with one sequence; the last one's `low` is the answer.

    `needed` gives the memory of a batch and grows with it. No batch above `limit` is tried.
    """
    probes: list[Probe] = []
    low = high = 0
    while (batch := _next(low, high, limit)) > low:
        size = needed(batch)
        fits = size <= capacity
        low, high = (batch, high) if fits else (low, batch)
        probes.append(Probe(batch=batch, needed=size, fits=fits, low=low, high=high))
    return tuple(probes)


def _next(low: Count, high: Count, limit: Count) -> Count:
    """Return the batch to try next; the largest known to fit if there is none left to try."""
    if high:
        return (low + high) // 2
    return min(max(1, 2 * low), limit)
