"""Everybody waits for the last flow: equal flows over equal paths, by hash, by load, by packet.

A leaf sends `flows` flows of equal size over `paths` links upward, each as fast as a port. A flow
alone on a link takes one unit; a link with c of them takes c. On top of that every flow is delayed
by chance: its time is multiplied by a log-normal factor, and for a few by a further factor.

How the flows find their links:

- by hash (ECMP): every flow, or each of its `pieces`, goes over a link chosen at random;
- by load (adaptive routing): over the link that carries the fewest pieces when it starts;
- by packet (spraying): over all links evenly.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from engine.core.units import Count, Ratio, Share
from engine.formulas.stragglers import normal
from engine.simulate.numerics.rng import picks

ROUTINGS: Mapping[str, str] = {
    "ecmp": "by hash (ECMP)",
    "adaptive": "by load (adaptive routing)",
    "spray": "by packet (spraying)",
}
# Batches of flows that are hashed anew, fewer of many pieces; the distribution is the mean of all.
_MOST, _LEAST, _DRAWN = 1024, 32, 2**16
# Times of the distribution: from half to 256 times that of an undisturbed flow, in powers of two.
_DOUBLINGS, _BETWEEN = (-1, 8), 20

Loads = Mapping[Ratio, float]
Pattern = tuple[tuple[Count, Count], ...]  # (pieces on a link, links that carry so many)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """Flows that start together.

    Attributes:
        flows: of one leaf.
        paths: links upward of one leaf.
        leaves: that do the same at the same time.
        pieces: that a flow is cut into, each hashed by itself (queue pairs of a connection).
        deviation: of the logarithm of a flow's delay factor.
        delayed: share of the flows that are delayed further.
        delay: by what factor.
    """

    flows: Count
    paths: Count
    leaves: Count = 1
    pieces: Count = 1
    deviation: Ratio = 0.0
    delayed: Share = 0.0
    delay: Ratio = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """When the last flow is done, in times of a flow that is alone on its link.

    Attributes:
        even: if all links carried the same and nothing were delayed.
        busiest: load of the busiest link of a leaf, mean of the trials.
        median: exceeded by every second batch.
        rare: exceeded by one batch of a thousand.
        mean: of all batches.
        shares: at each of `times()`, the share of batches that are done.
    """

    even: Ratio
    busiest: Ratio
    median: Ratio
    rare: Ratio
    mean: Ratio
    shares: tuple[Share, ...]


@lru_cache(maxsize=1)
def times() -> tuple[Ratio, ...]:
    """Return the times at which distributions are known."""
    first, last = _DOUBLINGS
    return tuple(2 ** (i / _BETWEEN) for i in range(first * _BETWEEN, last * _BETWEEN + 1))


def waiting(flows: Flows, routing: str) -> Waiting:
    """Return how long the last flow takes under a routing of `ROUTINGS`."""
    busiest, of_a_leaf = _one_leaf(replace(flows, leaves=1), routing)
    shares = [share**flows.leaves for share in of_a_leaf]
    return Waiting(
        even=max(1.0, flows.flows / flows.paths),
        busiest=busiest,
        median=_quantile(shares, 0.5),
        rare=_quantile(shares, 0.999),
        mean=_mean(shares),
        shares=tuple(shares),
    )


@lru_cache(maxsize=16)
def _one_leaf(flows: Flows, routing: str) -> tuple[Ratio, tuple[Share, ...]]:
    """Return the load of the busiest link, and at each of `times()` the share of a leaf's batches.

    Leaves choose for themselves: of several, all are done with the power of that share.
    """
    loads = tuple(_loads(flows, routing))
    trials = sum(times for _, times in loads)
    levels = {level for one, _ in loads for level in one}
    shares = []
    for time in times():
        done = {level: single(flows, time / level) for level in levels}
        shares.append(math.fsum(n * _all_done(one, done) for one, n in loads) / trials)
    return math.fsum(n * max(one) for one, n in loads) / trials, tuple(shares)


def single(flows: Flows, factor: Ratio) -> Share:
    """Return the share of flows that are delayed by at most a factor."""

    def below(most: Ratio) -> Share:
        if flows.deviation == 0:
            # A hair of tolerance: times on the grid are rounded.
            return 1.0 if most >= 1 - 1e-9 else 0.0
        return normal(math.log(most) / flows.deviation)

    return (1 - flows.delayed) * below(factor) + flows.delayed * below(factor / flows.delay)


def tail_ratio(flows: Flows) -> Ratio:
    """Return the 99.9th percentile of one flow's delay over its median."""
    shares = [single(flows, time) for time in times()]
    return _quantile(shares, 0.999) / _quantile(shares, 0.5)


def _loads(flows: Flows, routing: str) -> Iterator[tuple[Loads, Count]]:
    """Yield how many flows' worth of chances run at which load, and in how many trials."""
    count = flows.flows * flows.pieces
    if routing == "spray":
        yield {max(1.0, flows.flows / flows.paths): flows.flows}, 1
    elif routing == "adaptive":
        least, more = divmod(count, flows.paths)
        yield _levels(flows, {least: flows.paths - more, least + 1: more}), 1
    else:
        for counts, times in _hashed(count, flows.paths):
            yield _levels(flows, dict(counts)), times


def trials_of(count: Count) -> Count:
    """Return how often so many pieces are hashed."""
    return min(_MOST, max(_LEAST, _DRAWN // count))


@lru_cache(maxsize=64)
def _hashed(count: Count, paths: Count) -> tuple[tuple[Pattern, Count], ...]:
    """Return how many links carry how many pieces, and in how many trials they do."""
    seen: Counter[Pattern] = Counter()
    for seed in range(1, trials_of(count) + 1):
        carried = Counter(Counter(picks(count, paths, seed)).values())
        seen[tuple(sorted(carried.items()))] += 1
    return tuple(seen.items())


def _levels(flows: Flows, counts: Mapping[Count, Count]) -> Loads:
    """Return load of a link -> pieces on such links; a port is no faster than a link."""
    found: dict[Ratio, Count] = {}
    for on_link, links in counts.items():
        if on_link and links:
            level = max(1.0, on_link / flows.pieces)
            found[level] = found.get(level, 0) + on_link * links
    return {level: pieces / flows.pieces for level, pieces in found.items()}


def _all_done(loads: Loads, done: Mapping[Ratio, Share]) -> Share:
    share = 1.0
    for level, count in loads.items():
        share *= done[level] ** count
    return share


def _quantile(shares: Sequence[Share], at: Share) -> Ratio:
    """Return the first time at which so many are done, straight between the known ones."""
    grid = times()
    for i, share in enumerate(shares):
        if share >= at:
            if i == 0 or share == shares[i - 1]:
                return grid[i]
            part = (at - shares[i - 1]) / (share - shares[i - 1])
            return grid[i - 1] + part * (grid[i] - grid[i - 1])
    return grid[-1]


def _mean(shares: Sequence[Share]) -> Ratio:
    """Return the integral of the share that is not done."""
    grid = times()
    rest = [
        (1 - (here + there) / 2) * (later - now)
        for here, there, now, later in zip(shares, shares[1:], grid, grid[1:], strict=False)
    ]
    return grid[0] + math.fsum(rest)
