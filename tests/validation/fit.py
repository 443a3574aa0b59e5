"""Fit the constants to the published runs, near the kernel benchmarks and what is assumed.

    python -m tests.validation.fit TABLE

Per type of GPU five constants are free, and a handful that all types share. What is minimized is
the weighted mean of the absolute error of the logarithm, plus a pull of every constant towards what
a benchmark or an assumption says before any run is looked at. Neither equal runs nor the runs of
one source count in full.

All constants are fitted together: the logarithm of a step is nearly linear in the logarithms of
the constants, so the problem is solved for the straight lines at hand (`lines`), and the lines are
drawn anew at the solution until nothing is gained. No random numbers: the same table gives the same
constants.
"""

import argparse
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.catalog.constants import ACHIEVED, COMMON, AchievedShares, CommonConstants
from engine.run.published import PublishedRun
from engine.simulate.step.step_time import step_time
from tests.validation.priors import (
    ATTENTION,
    COMMON_PRIOR,
    COMMON_PULL,
    FREE,
    PRIOR,
    PULL,
    SPREAD,
)
from tests.validation.rows import cases

# Lines are drawn over this change of a constant, and a round moves no constant farther than that.
STEP, REACH = 0.01, 0.2
# Below this an error counts by its square, so that the solution is smooth.
SMOOTH = 2e-3
ROUNDS = 40
Name = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """What is fitted: the constants of each type of GPU, and those that all types share."""

    types: Mapping[str, AchievedShares]
    common: CommonConstants

    def value(self, name: Name) -> float:
        """Return one of them."""
        owner, of = name
        return float(getattr(self.types.get(owner, self.common), of))

    def moved(self, changes: Mapping[Name, float]) -> "Constants":
        """Return the constants with some of them multiplied by the exponential of their change."""
        types, common = dict(self.types), self.common
        for (owner, name), change in changes.items():
            if owner in types:
                value = getattr(types[owner], name) * math.exp(change)
                types[owner] = replace(types[owner], **{name: value})
            else:
                common = replace(common, **{name: getattr(common, name) * math.exp(change)})
        return Constants(types=types, common=common)


def family(case: PublishedRun) -> str:
    """The type of GPU that a run counts for."""
    return case.run.cluster.gpu.name.split()[0]


def tabled() -> Constants:
    """Return the constants of the engine's tables."""
    types = {name: next(ACHIEVED[key] for key in ACHIEVED if key.split()[0] == name)
             for name in PRIOR}  # fmt: skip
    return Constants(types=types, common=COMMON)


def names() -> list[Name]:
    """Return what is free."""
    own = [(kind, name) for kind in PRIOR for name in FREE]
    return own + [("common", name) for name in COMMON_PRIOR]


def prior(name: Name) -> tuple[float, float]:
    """Return what is known of a constant before any run is looked at, and the pull towards it."""
    owner, of = name
    if owner == "common":
        middle, width = COMMON_PRIOR[of]
        return middle, COMMON_PULL / width**2
    return {**ATTENTION, **PRIOR[owner]}[of], PULL / SPREAD[of] ** 2


def predicted(case: PublishedRun, constants: Constants) -> float:
    """Return the step that the constants predict."""
    run, own = case.run, constants.types.get(family(case))
    return step_time(run.model, run.cluster, run.plan, run.training, own, constants.common).total


def ratio(case: PublishedRun, constants: Constants) -> float:
    """Return the logarithm of predicted over measured."""
    return math.log(predicted(case, constants) / case.time)


def alike(case: PublishedRun) -> tuple[str, ...]:
    """What equal runs have in common."""
    columns = ("source_file", "model", "n_gpus", "seq_len", "precision", "tp", "pp", "mbs")
    return tuple(case.row[column] for column in columns)


def weights(chosen: Sequence[PublishedRun]) -> list[float]:
    """Equal runs share one weight, and so do the runs of one source; both softened by a root.

    Fifty releases of one run are no fifty runs, and no source is to outvote the others.
    """
    equal = Counter(alike(case) for case in chosen)
    source = Counter(case.row["source_file"] for case in chosen)
    return [(equal[alike(case)] * source[case.row["source_file"]]) ** -0.5 for case in chosen]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Straight lines through the predictions at some constants.

    Attributes:
        at: the constants.
        ratios: logarithm of predicted over measured of each run [runs].
        slopes: of that logarithm in that of each constant [runs, names].
    """

    at: Constants
    ratios: np.ndarray
    slopes: np.ndarray


def lines(chosen: Sequence[PublishedRun], at: Constants) -> Lines:
    """Return the lines at `at`."""
    free = names()
    ratios = np.array([ratio(case, at) for case in chosen])
    slopes = np.zeros((len(chosen), len(free)))
    for column, name in enumerate(free):
        up, down = at.moved({name: STEP}), at.moved({name: -STEP})
        for row, case in enumerate(chosen):
            if name[0] in ("common", family(case)):
                slopes[row, column] = (ratio(case, up) - ratio(case, down)) / (2 * STEP)
    return Lines(at=at, ratios=ratios, slopes=slopes)


def pulled(at: Constants, shares: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return how far each constant is from its prior, and how hard it is pulled there.

    A type of GPU is pulled in proportion to the share of its runs, so that few runs count as
    little as the pull that holds them.
    """
    away, pull = [], []
    for owner, of in names():
        middle, strength = prior((owner, of))
        away.append(math.log(at.value((owner, of)) / middle))
        pull.append(strength * (1.0 if owner == "common" else max(shares.get(owner, 0.0), 1e-3)))
    return np.array(away), np.array(pull)


def shares_of(chosen: Sequence[PublishedRun]) -> tuple[np.ndarray, dict[str, float]]:
    """Return the weight of each run, all together one, and that of each type of GPU."""
    each = np.array(weights(chosen))
    each /= each.sum()
    types: Counter[str] = Counter()
    for case, share in zip(chosen, each, strict=True):
        types[family(case)] += float(share)
    return each, dict(types)


def solved(found: Lines, chosen: Sequence[PublishedRun], reach: float) -> dict[Name, float]:
    """Return by how much the lines would move each constant, at most by `reach`."""
    each, types = shares_of(chosen)
    away, pull = pulled(found.at, types)
    change = np.zeros(len(away))
    for _ in range(ROUNDS):
        off = found.ratios + found.slopes @ change
        weight = each / np.maximum(np.abs(off), SMOOTH)
        left = (found.slopes * weight[:, None]).T @ found.slopes + 2 * np.diag(pull)
        right = -(found.slopes * weight[:, None]).T @ found.ratios - 2 * pull * away
        change = np.clip(np.linalg.solve(left + 1e-9 * np.eye(len(away)), right), -reach, reach)
    return dict(zip(names(), map(float, change), strict=True))


def loss(chosen: Sequence[PublishedRun], at: Constants) -> float:
    """Return what is minimized."""
    each, types = shares_of(chosen)
    off = np.array([ratio(case, at) for case in chosen])
    away, pull = pulled(at, types)
    return float(each @ np.abs(off) + pull @ away**2)


def fit(chosen: Sequence[PublishedRun], start: Constants) -> Constants:
    """Return the constants that fit best, from a start."""
    found, best, reach = start, loss(chosen, start), REACH
    drawn = lines(chosen, found)
    while reach > 0.004:
        tried = found.moved(solved(drawn, chosen, reach))
        value = loss(chosen, tried)
        if value < best - 1e-6:
            found, best = tried, value
            drawn = lines(chosen, found)
        else:
            reach /= 2
    return found


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    options = parser.parse_args()
    chosen = [case for case in cases(options.table)[0] if case.trusted]
    start = tabled()
    found = fit(chosen, start)
    print(f"loss {loss(chosen, start):.5f} -> {loss(chosen, found):.5f}")
    for kind, own in found.types.items():
        print(kind, *(f"{name}={getattr(own, name):.4g}" for name in FREE))
    print("COMMON", *(f"{name}={getattr(found.common, name):.4g}" for name in COMMON_PRIOR))


if __name__ == "__main__":
    main()
