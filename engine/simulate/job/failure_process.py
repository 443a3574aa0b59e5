"""The life of a job: failures struck by a seeded random sequence, checkpoints, restarts.

The sequence is the engine's own, so that the same seed gives the same life everywhere.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from engine.core.units import Count, Ratio, Seconds, Share
from engine.simulate.numerics.rng import chances

_MORE = 64  # failures that are drawn at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How a job saves and recovers.

    Attributes:
        interval: work between two checkpoints.
        checkpoint: time of one checkpoint, in which no work is done.
        restart: from a failure until work goes on.
        mtbf: mean time between failures of the whole job.
    """

    interval: Seconds
    checkpoint: Seconds
    restart: Seconds
    mtbf: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The job between two failures.

    Attributes:
        start: when work goes on after the last failure.
        saved: work that lasts at the start.
        gained: work checkpointed in this stretch.
        unsaved: work done after the last checkpoint, which the failure destroys.
        end: when the failure strikes.
    """

    start: Seconds
    saved: Seconds
    gained: Seconds
    unsaved: Seconds
    end: Seconds


def life(habits: Habits, num_failures: Count, seed: int) -> Iterator[Stretch]:
    """Yield the stretches between so many failures; a failure during a restart begins it anew.

    Such failures end a stretch without work, whose start lies at its end.
    """
    clock = saved = 0.0
    again = 0.0
    segment = habits.interval + habits.checkpoint
    for unit in islice(waits(seed), num_failures):
        wait = habits.mtbf * unit
        running = max(0.0, wait - again)
        done = math.floor(running / segment)
        gained = done * habits.interval
        unsaved = min(running - done * segment, habits.interval)
        yield Stretch(
            start=clock + min(again, wait),
            saved=saved,
            gained=gained,
            unsaved=unsaved,
            end=clock + wait,
        )
        clock, saved, again = clock + wait, saved + gained, habits.restart


def simulated_goodput(habits: Habits, num_failures: Count, seed: int) -> Share:
    """Return the share of the time until the last failure that was work which lasted."""
    if num_failures < 1:
        raise ValueError(f"num_failures is {num_failures}; at least 1 is needed")
    clock = saved = again = 0.0
    segment = habits.interval + habits.checkpoint
    for unit in islice(waits(seed), num_failures):
        wait = habits.mtbf * unit
        saved += math.floor(max(0.0, wait - again) / segment) * habits.interval
        clock, again = clock + wait, habits.restart
    return saved / clock


def run_time(habits: Habits, work: Seconds, seed: int) -> Seconds:
    """Return when a run with so much work ends; its last interval is checkpointed too."""
    left = math.ceil(work / habits.interval)
    clock = again = 0.0
    segment, mtbf, restart = habits.interval + habits.checkpoint, habits.mtbf, habits.restart
    for unit in waits(seed):  # as short as it can be: tens of thousands of failures
        wait = mtbf * unit
        done = int((wait - again) / segment) if wait > again else 0
        if done >= left:
            break
        clock, left, again = clock + wait, left - done, restart
    return clock + again + left * segment


def waits(seed: int) -> Iterator[Ratio]:
    """Yield the times between failures over their mean, which no choice for the job changes."""
    known, chance = _waited(seed)
    place = 0
    while True:
        yield from islice(known, place, None)
        place = len(known)
        known += [-math.log(one) for one in islice(chance, _MORE)]


@lru_cache(maxsize=400)
def _waited(seed: int) -> tuple[list[Ratio], Iterator[Share]]:
    """Return those that were asked for so far, and the chances of the next ones."""
    return [], chances(seed)


def life_line(
    habits: Habits, num_failures: Count, seed: int
) -> tuple[tuple[Seconds, Seconds], ...]:
    """Return (time, work done by then): it rises to each failure, and falls to what was saved."""
    points = [(0.0, 0.0)]
    for stretch in life(habits, num_failures, seed):
        kept = stretch.saved + stretch.gained
        points += [
            (stretch.start, stretch.saved),
            (stretch.end, kept + stretch.unsaved),
            (stretch.end, kept),
        ]
    return tuple(points)
