"""Tail of the flow completion time: equal flows over equal paths, by hash, load or packet.

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
from engine.simulate.numerics.rng import random_integers

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
class FlowBatch:
    """A batch of flows that start together.

    Attributes:
        flows: flows of one leaf.
        paths: upward links of one leaf.
        leaves: leaves that send such flows at the same time.
        pieces: pieces of a flow, each hashed by itself (queue pairs of a connection).
        deviation: standard deviation of the logarithm of a flow's delay factor.
        delayed: share of the flows with a further delay.
        delay: factor of that delay.
    """

    flows: Count
    paths: Count
    leaves: Count = 1
    pieces: Count = 1
    deviation: Ratio = 0.0
    delayed: Share = 0.0
    delay: Ratio = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LastFlowTimes:
    """Distribution of the last flow's end, in units of the time of a flow alone on its link.

    Attributes:
        even: end with equal loads on all links and no delays.
        busiest: load of the busiest link of a leaf, mean of the trials.
        median: end that every second batch exceeds.
        rare: end that one batch in a thousand exceeds.
        mean: mean over all batches.
        shares: share of batches that are done at each time of `time_grid()`.
    """

    even: Ratio
    busiest: Ratio
    median: Ratio
    rare: Ratio
    mean: Ratio
    shares: tuple[Share, ...]


@lru_cache(maxsize=1)
def time_grid() -> tuple[Ratio, ...]:
    """Return the times at which distributions are tabulated."""
    first, last = _DOUBLINGS
    return tuple(2 ** (i / _BETWEEN) for i in range(first * _BETWEEN, last * _BETWEEN + 1))


def last_flow_times(flows: FlowBatch, routing: str) -> LastFlowTimes:
    """Return the distribution of the last flow's end under a routing of `ROUTINGS`."""
    busiest, leaf_shares = _leaf_distribution(replace(flows, leaves=1), routing)
    shares = [share**flows.leaves for share in leaf_shares]
    return LastFlowTimes(
        even=max(1.0, flows.flows / flows.paths),
        busiest=busiest,
        median=_quantile(shares, 0.5),
        rare=_quantile(shares, 0.999),
        mean=_mean_time(shares),
        shares=tuple(shares),
    )


@lru_cache(maxsize=16)
def _leaf_distribution(flows: FlowBatch, routing: str) -> tuple[Ratio, tuple[Share, ...]]:
    """Return the load of the busiest link, and the share of a leaf's batches done at each time.

    Leaves are independent: the share of batches that all leaves have done is a power of it.
    """
    loads = tuple(_trial_loads(flows, routing))
    trials = sum(times for _, times in loads)
    levels = {level for pattern, _ in loads for level in pattern}
    shares = []
    for time in time_grid():
        done = {level: delay_share(flows, time / level) for level in levels}
        shares.append(
            math.fsum(n * _share_all_done(pattern, done) for pattern, n in loads) / trials
        )
    return math.fsum(n * max(pattern) for pattern, n in loads) / trials, tuple(shares)


def delay_share(flows: FlowBatch, factor: Ratio) -> Share:
    """Return the share of flows whose delay factor is at most `factor`."""

    def below(factor_limit: Ratio) -> Share:
        if flows.deviation == 0:
            # A hair of tolerance: times on the grid are rounded.
            return 1.0 if factor_limit >= 1 - 1e-9 else 0.0
        return normal(math.log(factor_limit) / flows.deviation)

    return (1 - flows.delayed) * below(factor) + flows.delayed * below(factor / flows.delay)


def tail_ratio(flows: FlowBatch) -> Ratio:
    """Return the 99.9th percentile of one flow's delay over its median."""
    shares = [delay_share(flows, time) for time in time_grid()]
    return _quantile(shares, 0.999) / _quantile(shares, 0.5)


def _trial_loads(flows: FlowBatch, routing: str) -> Iterator[tuple[Loads, Count]]:
    """Yield load of a link -> number of flows, and the number of trials with this pattern."""
    count = flows.flows * flows.pieces
    if routing == "spray":
        yield {max(1.0, flows.flows / flows.paths): flows.flows}, 1
    elif routing == "adaptive":
        least, more = divmod(count, flows.paths)
        yield _flows_by_load(flows, {least: flows.paths - more, least + 1: more}), 1
    else:
        for counts, times in _hashed_patterns(count, flows.paths):
            yield _flows_by_load(flows, dict(counts)), times


def num_trials(count: Count) -> Count:
    """Return the number of hashing trials for `count` pieces."""
    return min(_MOST, max(_LEAST, _DRAWN // count))


@lru_cache(maxsize=64)
def _hashed_patterns(count: Count, paths: Count) -> tuple[tuple[Pattern, Count], ...]:
    """Return the patterns of pieces per link, and the number of trials of each."""
    seen: Counter[Pattern] = Counter()
    for seed in range(1, num_trials(count) + 1):
        carried = Counter(Counter(random_integers(count, paths, seed)).values())
        seen[tuple(sorted(carried.items()))] += 1
    return tuple(seen.items())


def _flows_by_load(flows: FlowBatch, counts: Mapping[Count, Count]) -> Loads:
    """Return load of a link -> flows on such links; a port is no faster than a link."""
    piece_counts: dict[Ratio, Count] = {}
    for on_link, links in counts.items():
        if on_link and links:
            level = max(1.0, on_link / flows.pieces)
            piece_counts[level] = piece_counts.get(level, 0) + on_link * links
    return {level: pieces / flows.pieces for level, pieces in piece_counts.items()}


def _share_all_done(loads: Loads, done: Mapping[Ratio, Share]) -> Share:
    share = 1.0
    for level, count in loads.items():
        share *= done[level] ** count
    return share


def _quantile(shares: Sequence[Share], at: Share) -> Ratio:
    """Return the first time at which the share `at` is done, by linear interpolation."""
    grid = time_grid()
    for i, share in enumerate(shares):
        if share >= at:
            if i == 0 or share == shares[i - 1]:
                return grid[i]
            part = (at - shares[i - 1]) / (share - shares[i - 1])
            return grid[i - 1] + part * (grid[i] - grid[i - 1])
    return grid[-1]


def _mean_time(shares: Sequence[Share]) -> Ratio:
    """Return the mean end: the integral of the share that is not done."""
    grid = time_grid()
    areas = [
        (1 - (here + there) / 2) * (later - now)
        for here, there, now, later in zip(shares, shares[1:], grid, grid[1:], strict=False)
    ]
    return grid[0] + math.fsum(areas)
