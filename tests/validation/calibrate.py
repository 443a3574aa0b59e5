"""Calibrate the ranges of predicted steps on runs that no fit saw, and count what they hold.

A run has two errors: with constants fitted without its source, and without its model. The range of
a class leaves out the same share of its runs at either end, each end where the wider of the two
ways has it, and is the narrowest such range that still holds 85 % of the runs in both ways. It
always holds the predicted step itself.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from engine.catalog.unseen_runs import ROUNDED
from engine.core.units import Count, Ratio, Share
from engine.run.published import PublishedRun
from engine.simulate.step.step_range import prediction_spread, run_classes
from tests.validation.classes import CLASSES, kind

# The logarithms of predicted over measured: without the source of a run, without its model.
Both = tuple[Ratio, Ratio]
Logs = Mapping[str, Both]
Range = tuple[Ratio, Ratio]

# Ranges are for four in five; a run that is not among those of its class is held less often than
# they are, so that the classes hold more: halfway to nine in ten, which would be too much. Of few
# runs as many as that allows, but never less than three in four.
HELD, LEAST = 0.85, 0.75
# A class needs so many runs; what it holds is told, and tested, from so many on.
FEWEST, TOLD = 6, 10
# A class of so many runs lies halfway between its own range and that of the class around it.
ALIKE = 3
# Shares that are left out at either end: the first range that holds enough is taken.
_SHARES = [count / 1000 for count in range(300, -1, -1)]
# The classes of jobs that the promise is tested for; a source, or what it says, is not a job's.
DIVISIONS = ("All", "GPU", "Precision", "Framework", "Scale")


def quantile(values: Sequence[float], share: Share) -> float:
    """Return a quantile of sorted values, straight between those on both sides."""
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def holds(ends: Range, value: Ratio) -> bool:
    """Return whether an error lies in a range."""
    return ends[0] - ROUNDED <= value <= ends[1] + ROUNDED


def needed(runs: Count) -> Count:
    """Return how many runs of a class its range holds at least, in both ways."""
    return max(math.ceil(LEAST * runs - 1e-9), int(HELD * runs + 1e-9))


def range_of(errors: Sequence[Both]) -> Range:
    """Return the range of a class."""
    ways = [sorted(way) for way in zip(*errors, strict=True)]
    for share in _SHARES:
        low = min(0.0, *(quantile(way, share) for way in ways))
        high = max(0.0, *(quantile(way, 1 - share) for way in ways))
        ends = (low, high)
        if all(sum(holds(ends, one) for one in way) >= needed(len(way)) for way in ways):
            return ends
    raise ValueError(f"no range holds {len(errors)} runs")


def ranges(found: Sequence[PublishedRun], logs: Logs) -> dict[str, tuple[Count, Ratio, Ratio]]:
    """Return of each class its runs and its range."""
    own = {
        name: (len(rows), *range_of([logs[row] for row in rows]))
        for name, rows in _members(found).items()
        if len(rows) >= FEWEST
    }
    found_ranges: dict[str, tuple[Count, Ratio, Ratio]] = {}
    for name in sorted(own, key=len):
        around = [other for other in found_ranges if name.startswith(f"{other} ")]
        one_job = around and name.startswith("adapters")  # all of them one benchmark's
        found_ranges[name] = _widened(own[name], found_ranges[around[-1]]) if one_job else own[name]
    return dict(sorted(found_ranges.items()))


def _widened(
    own: tuple[Count, Ratio, Ratio], around: tuple[Count, Ratio, Ratio]
) -> tuple[Count, Ratio, Ratio]:
    """Return a class's range, widened towards the range around it, the more the fewer its runs.

    Runs of one job on one system err alike; another job errs as the class around.
    """
    count, low, high = own
    share = count / (count + ALIKE)
    low = min(low, share * low + (1 - share) * around[1])
    return count, low, max(high, share * high + (1 - share) * around[2])


def _members(found: Sequence[PublishedRun]) -> dict[str, list[str]]:
    """Return the rows of each class."""
    members: dict[str, list[str]] = defaultdict(list)
    for case in found:
        for name in run_classes(case.run):
            members[name].append(case.row["row_id"])
    return members


def coverage(
    found: Sequence[PublishedRun], logs: Logs
) -> Iterator[tuple[str, Count, Share, Share]]:
    """Yield of each class of ten runs or more: runs, held without source and without model.

    First the classes that reports tell errors by, then those that a range is told of. Every run
    counts with the range that the engine tells for it.
    """
    held: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for case in found:
        one = prediction_spread(case.run)
        ends = (-math.log(one.high), -math.log(one.low))
        inside = [holds(ends, value) for value in logs[case.row["row_id"]]]
        names = [f"{title}: {kind(case)}, {CLASSES[title](case)}" for title in DIVISIONS]
        for name in (*names, f"Range: {one.name}"):
            held[name].append((inside[0], inside[1]))
    for title, rows in sorted(held.items(), key=lambda one: (one[0][:5] == "Range", one[0])):
        if len(rows) >= TOLD:
            source, model = (statistics.fmean(way) for way in zip(*rows, strict=True))
            yield title, len(rows), source, model


def left_out(found: Sequence[PublishedRun], logs: Logs) -> dict[str, list[bool]]:
    """Return by kind whether each run lies in the range of its class without itself, both ways."""
    members, held = _members(found), defaultdict(list)
    for case in found:
        name = next(name for name in run_classes(case.run) if len(members[name]) >= FEWEST)
        own = case.row["row_id"]
        ends = range_of([logs[row] for row in members[name] if row != own])
        held[kind(case)] += [holds(ends, value) for value in logs[own]]
    return held
