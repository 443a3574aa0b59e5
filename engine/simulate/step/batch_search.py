"""The largest batch by trial: double until memory runs out, then halve the gap."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.core.units import Bytes, Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One batch size that was tried.

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


def search_largest_batch(
    memory_needed: Callable[[Count], Bytes], capacity: Bytes, limit: Count
) -> tuple[Probe, ...]:
    """Return every probe, starting with one sequence; the last probe's `low` is the largest batch.

    `memory_needed` gives the memory of a batch and grows with it. No batch above `limit` is tried.
    """
    probes: list[Probe] = []
    low = high = 0
    while (batch := _next_batch(low, high, limit)) > low:
        size = memory_needed(batch)
        fits = size <= capacity
        low, high = (batch, high) if fits else (low, batch)
        probes.append(Probe(batch=batch, needed=size, fits=fits, low=low, high=high))
    return tuple(probes)


def _next_batch(low: Count, high: Count, limit: Count) -> Count:
    """Return the next batch to try, or the largest that fits if the search is over."""
    if high:
        return (low + high) // 2
    return min(max(1, 2 * low), limit)
