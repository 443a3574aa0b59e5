"""Fit the constants of each type of GPU to the published runs, near the kernel benchmarks.

    python -m tests.validation.fit TABLE [--without SOURCE] [--gpu NAME ...]
    python -m tests.validation.fit TABLE --common

`--common` fits the constants that all types share, near what is assumed for each, with those of
the types at their values; the constants of the types are to be fitted again afterwards.
Five constants per type are free: the rates of products in 16 and in 8 bits, of attention forward
and backward, and the fill of a tile. The three bandwidths stay as measured. What is minimized is
the mean absolute error of the logarithm, where neither equal runs nor the runs of one source count
in full, plus a pull towards the kernel benchmarks. Coordinate descent, no
random numbers: the same table gives the same constants.
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from engine.catalog.constants import ACHIEVED, COMMON, Achieved, Common
from engine.run.published import Case
from engine.simulate.step_time import step_time
from tests.validation.rows import cases

FREE = ("matmul", "matmul_fp8", "attention_forward", "attention_backward", "fill")

# Kernel benchmarks: what products reach when only they run (tables of kernels: cuBLASLt 256 of 312
# TFLOP/s, best shapes 0.80 on H100, 0.78 on B200), less 10 % for sustained power.
PRIOR: Mapping[str, Mapping[str, float]] = {
    "A100": {"matmul": 0.74, "matmul_fp8": 0.74, "fill": 3.5e-6},
    "H100": {"matmul": 0.70, "matmul_fp8": 0.63, "fill": 3.5e-6},
    "B200": {"matmul": 0.50, "matmul_fp8": 0.62, "fill": 1.5e-6},
    "GB200": {"matmul": 0.60, "matmul_fp8": 0.60, "fill": 1.5e-6},
    "B300": {"matmul": 0.60, "matmul_fp8": 0.60, "fill": 1.5e-6},
    "GB300": {"matmul": 0.60, "matmul_fp8": 0.60, "fill": 1.5e-6},
}
ATTENTION = {"attention_forward": 0.60, "attention_backward": 0.48}
# How far a constant may go from there before it costs as much as one percent of error.
SPREAD = {
    "matmul": 0.06,
    "matmul_fp8": 0.06,
    "attention_forward": 0.15,
    "attention_backward": 0.15,
    "fill": 0.3,
}
PULL = 0.006

# What is assumed of the common constants before any run is looked at, and how far they may go
# before it costs as much as a tenth of a percent of error. Overlap: about half. Host: 2 ms of
# logging and loading. GPUs: a hundredth (run-to-run variation of single GPUs). Taken: 24 of 120
# multiprocessors, and as much again in bandwidth and power. Launches: 300 kernels of 8 us. First
# attention: half as fast as the second (Dao 2023). Copies: padding and its removal.
COMMON_PRIOR: Mapping[str, tuple[float, float]] = {
    "hidden": (0.5, 0.5),
    "cover": (0.5, 0.5),
    "exposed_sends": (0.25, 1.0),
    "host": (2e-3, 1.0),
    "deviation": (0.01, 0.5),
    "taken": (0.4, 0.5),
    "fetch_ahead": (0.5, 0.5),
    "expert_launches": (2.4e-3, 0.5),
    "first_attention": (0.5, 0.3),
    "unfused_copy": (8.0, 0.5),
}
COMMON_PULL = 0.001


def family(case: Case) -> str:
    """The type of GPU that a run counts for."""
    return case.run.cluster.gpu.name.split()[0]


def weights(chosen: Sequence[Case]) -> list[float]:
    """Equal runs share one weight, and so do the runs of one source; both softened by a root.

    Fifty releases of one run are no fifty runs, and no source is to outvote the others.
    """

    def key(case: Case) -> tuple[str, ...]:
        row = case.row
        names = ("source_file", "model", "n_gpus", "seq_len", "precision", "tp", "pp", "mbs")
        return tuple(row[name] for name in names)

    equal = Counter(key(case) for case in chosen)
    source = Counter(case.row["source_file"] for case in chosen)
    return [(equal[key(case)] * source[case.row["source_file"]]) ** -0.5 for case in chosen]


def loss(
    chosen: Sequence[Case],
    shares: Sequence[float],
    found: Achieved,
    prior: Mapping[str, float],
    common: Common = COMMON,
) -> float:
    """The weighted mean error, and the pull of the benchmarks."""
    total = 0.0
    for case, share in zip(chosen, shares, strict=True):
        run = case.run
        time = step_time(run.model, run.cluster, run.plan, run.training, found, common).total
        total += share * abs(math.log(time / case.time))
    away = (math.log(getattr(found, name) / prior[name]) / SPREAD[name] for name in FREE)
    return total / sum(shares) + PULL * sum(value**2 for value in away)


Record = TypeVar("Record", Achieved, Common)


def descend(start: Record, names: Sequence[str], value: Callable[[Record], float]) -> Record:
    """Coordinate descent in the logarithm of each constant, steps halved until under 0.3 %.

    Again and again, from steps of 5 %, until a round gains nothing: constants move together.
    """
    found, best, before = start, value(start), math.inf
    while best < before - 1e-6:
        before = best
        steps = dict.fromkeys(names, 0.05)
        while max(steps.values()) > 0.003:
            for name in names:
                for factor in (math.exp(steps[name]), math.exp(-steps[name])):
                    tried = replace(found, **{name: getattr(found, name) * factor})
                    if (moved := value(tried)) < best:
                        found, best = tried, moved
                        break
                else:
                    steps[name] /= 2
    return found


def fit(
    chosen: Sequence[Case],
    start: Achieved,
    prior: Mapping[str, float],
    common: Common = COMMON,
) -> Achieved:
    """The constants of one type."""
    shares = weights(chosen)
    return descend(
        replace(start, **prior), FREE, lambda found: loss(chosen, shares, found, prior, common)
    )


def fit_all(
    found: Sequence[Case], names: Sequence[str], common: Common = COMMON
) -> dict[str, Achieved]:
    """The constants of each type."""
    result = {}
    for name in names:
        chosen = [case for case in found if family(case) == name and case.trusted]
        start = next(ACHIEVED[key] for key in ACHIEVED if key.split()[0] == name)
        result[name] = fit(chosen, start, {**ATTENTION, **PRIOR[name]}, common) if chosen else start
    return result


def common_loss(chosen: Sequence[Case], shares: Sequence[float], common: Common) -> float:
    """The weighted mean error of all types together, and the pull of the assumptions."""
    total = 0.0
    for case, share in zip(chosen, shares, strict=True):
        run = case.run
        time = step_time(run.model, run.cluster, run.plan, run.training, common=common).total
        total += share * abs(math.log(time / case.time))
    away = (
        math.log(getattr(common, name) / middle) / width
        for name, (middle, width) in COMMON_PRIOR.items()
    )
    return total / sum(shares) + COMMON_PULL * sum(value**2 for value in away)


def fit_common(found: Sequence[Case]) -> Common:
    """The constants that all types share."""
    chosen = [case for case in found if case.trusted]
    shares = weights(chosen)
    middle = {name: assumed for name, (assumed, _) in COMMON_PRIOR.items()}
    start = replace(COMMON, **middle)
    return descend(start, tuple(COMMON_PRIOR), lambda common: common_loss(chosen, shares, common))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--without", default="", metavar="SOURCE")
    parser.add_argument("--gpu", nargs="*", default=list(PRIOR))
    parser.add_argument("--common", action="store_true")
    options = parser.parse_args()
    found = [
        case
        for case in cases(options.table)[0]
        if not options.without or not case.row["source_file"].startswith(options.without)
    ]
    if options.common:
        common = fit_common(found)
        print("COMMON", *(f"{name}={getattr(common, name):.3g}" for name in COMMON_PRIOR))
        return
    for name, constants in fit_all(found, options.gpu).items():
        values = (f"{key}={getattr(constants, key):.3g}" for key in FREE)
        print(name, *values)


if __name__ == "__main__":
    main()
