"""Random failures of a job from a seeded sequence, with checkpoints and restarts.

The sequence is the engine's own, so that the same seed gives the same life everywhere.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from engine.core.units import Count, Ratio, Seconds, Share
from engine.simulate.numerics.rng import uniforms

_MORE = 64  # failures that are drawn at once


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPolicy:
    """Checkpoint interval, checkpoint time, restart time and MTBF of a job.

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
class RunSegment:
    """The run between two failures.

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


def run_segments(policy: CheckpointPolicy, num_failures: Count, seed: int) -> Iterator[RunSegment]:
    """Yield the run segments between failures; a failure during a restart restarts it.

    Such failures end a stretch without work, whose start lies at its end.
    """
    clock = saved = 0.0
    restart = 0.0
    segment = policy.interval + policy.checkpoint
    for unit in islice(failure_gaps(seed), num_failures):
        wait = policy.mtbf * unit
        running = max(0.0, wait - restart)
        done = math.floor(running / segment)
        gained = done * policy.interval
        unsaved = min(running - done * segment, policy.interval)
        yield RunSegment(
            start=clock + min(restart, wait),
            saved=saved,
            gained=gained,
            unsaved=unsaved,
            end=clock + wait,
        )
        clock, saved, restart = clock + wait, saved + gained, policy.restart


def simulated_goodput(policy: CheckpointPolicy, num_failures: Count, seed: int) -> Share:
    """Return the goodput until the last failure."""
    if num_failures < 1:
        raise ValueError(f"num_failures is {num_failures}; at least 1 is needed")
    clock = saved = restart = 0.0
    segment = policy.interval + policy.checkpoint
    for unit in islice(failure_gaps(seed), num_failures):
        wait = policy.mtbf * unit
        saved += math.floor(max(0.0, wait - restart) / segment) * policy.interval
        clock, restart = clock + wait, policy.restart
    return saved / clock


def simulated_run_time(policy: CheckpointPolicy, work: Seconds, seed: int) -> Seconds:
    """Return the wall time of a run with given work; its last interval is checkpointed too."""
    left = math.ceil(work / policy.interval)
    clock = recovery = 0.0
    segment, mtbf, restart = policy.interval + policy.checkpoint, policy.mtbf, policy.restart
    for unit in failure_gaps(seed):  # as short as it can be: tens of thousands of failures
        wait = mtbf * unit
        done = int((wait - recovery) / segment) if wait > recovery else 0
        if done >= left:
            break
        clock, left, recovery = clock + wait, left - done, restart
    return clock + recovery + left * segment


def failure_gaps(seed: int) -> Iterator[Ratio]:
    """Yield the times between failures relative to their mean."""
    gaps, draws = _drawn_gaps(seed)
    yielded = 0
    while True:
        yield from islice(gaps, yielded, None)
        yielded = len(gaps)
        gaps += [-math.log(draw) for draw in islice(draws, _MORE)]


@lru_cache(maxsize=400)
def _drawn_gaps(seed: int) -> tuple[list[Ratio], Iterator[Share]]:
    """Return the gaps drawn so far, and the random numbers for the next ones."""
    return [], uniforms(seed)


def progress_line(
    policy: CheckpointPolicy, num_failures: Count, seed: int
) -> tuple[tuple[Seconds, Seconds], ...]:
    """Return (time, work done) points, which fall back to the last checkpoint at failures."""
    points = [(0.0, 0.0)]
    for stretch in run_segments(policy, num_failures, seed):
        kept = stretch.saved + stretch.gained
        points += [
            (stretch.start, stretch.saved),
            (stretch.end, kept + stretch.unsaved),
            (stretch.end, kept),
        ]
    return tuple(points)
