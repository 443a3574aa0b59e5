"""Print how far the predicted step times are from the published ones.

    python -m tests.validation.report TABLE [--seen | --rows PREFIX | --random COUNT]

TABLE is `training_runs.csv`. Printed by class are the errors on runs that the constants were fitted
to, and beside them those on the same runs with constants fitted without their source and without
their model; then how the plans of one job are ranked, and how many measured steps lie in the range
that the engine tells. Errors are absolute, of predicted over
measured, less one, in percent; the bias keeps the sign. `--seen` leaves the fits out, `--rows`
prints single runs, `--random` estimates that many random runs and checks that they are finite and
their parts add up.
"""

import argparse
import math
import random
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

from engine.estimate import estimate
from engine.run.file import read_run
from engine.run.published import PublishedRun
from engine.simulate.step.step_time import step_time
from tests.validation.any_run import any_document
from tests.validation.calibrate import coverage
from tests.validation.classes import CLASSES, Key, kind
from tests.validation.order import groups
from tests.validation.rows import cases
from tests.validation.unseen import unseen

# Of each run: the logarithm of predicted over measured, seen, without its source, without its
# model.
Errors = tuple[float, ...]
TITLES = ("seen", "without its source", "without its model")


def error(case: PublishedRun) -> float:
    """The relative error of one run."""
    run = case.run
    return step_time(run.model, run.cluster, run.plan, run.training).total / case.time - 1


def summary(logs: Sequence[float]) -> str:
    """Mean, 90th percentile and worst absolute error, and bias, in percent."""
    errors = [math.exp(value) - 1 for value in logs]
    sizes = sorted(map(abs, errors))
    tail = sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]
    numbers = (statistics.fmean(sizes), tail, sizes[-1], statistics.fmean(errors))
    return "{:6.1f}{:6.1f}{:7.1f}{:+7.1f}".format(*(100 * value for value in numbers))


def head(count: int) -> str:
    """The two lines above a table."""
    first = "".join(f" |{title:^26s}" for title in TITLES[:count])
    columns = f" |{'mean':>6s}{'p90':>6s}{'worst':>7s}{'bias':>7s}" * count
    return f"{'':37s}{first}\n{'':32s}{'rows':>5s}{columns}"


def table(title: str, scored: Iterable[tuple[PublishedRun, Errors]], key: Key) -> None:
    """Print one line per class, dense and mixtures apart."""
    found: dict[str, list[Errors]] = {}
    for case, errors in scored:
        found.setdefault(f"{kind(case)}, {key(case)}", []).append(errors)
    print(f"\n{title}")
    for name, rows in sorted(found.items()):
        columns = "".join(f" |{summary(column)}" for column in zip(*rows, strict=True))
        print(f"{name[:32]:32s}{len(rows):5d}{columns}")


def order(found: Sequence[PublishedRun], title: str, shift: dict[str, float]) -> None:
    """Print how the plans of each job are ranked, with `shift` as their errors."""
    ranked = groups(found, lambda case: case.time * math.exp(shift[case.row["row_id"]]))
    print(f"\nPlans of one job, {title}{'':10s} plans pairs   tau regret %")
    for one in ranked:
        print(
            f"{one.name[:70]:70s}{one.plans:5d}{one.pairs:6d}{one.tau:6.2f}{100 * one.regret:8.1f}"
        )
    taus, regrets = [one.tau for one in ranked], [one.regret for one in ranked]
    pairs = sum(one.pairs for one in ranked)
    pooled = sum(one.tau * one.pairs for one in ranked) / pairs
    print(
        f"{len(ranked)} groups: tau mean {statistics.fmean(taus):.2f}, of all pairs {pooled:.2f}; "
        f"regret mean {100 * statistics.fmean(regrets):.1f} %, worst {100 * max(regrets):.1f} %"
    )


def details(found: Iterable[PublishedRun]) -> None:
    """Print one line per run."""
    for case in found:
        run = case.run
        time = step_time(run.model, run.cluster, run.plan, run.training)
        parts = {name: 100 * getattr(time, name) / time.total for name in type(time).__slots__}
        shown = " ".join(f"{name}={part:.0f}" for name, part in parts.items() if part >= 0.5)
        print(
            f"{case.row['row_id']:28s} {case.time:9.3f} {time.total:9.3f} "
            f"{100 * error(case):+6.1f}% {shown}"
        )


def check_random(count: int) -> None:
    """Estimate random runs; stop at the first that is not finite or does not add up."""
    for seed in range(count):
        document = any_document(random.Random(f"report {seed}"))
        found = estimate(read_run(document))
        times, sizes = found["time"].values(), found["memory"].values()
        fine = all(math.isfinite(value) and value >= 0 for value in (*times, *sizes))
        fine = fine and math.isclose(sum(times), found["step_time"], rel_tol=1e-9)
        if not (fine and math.isclose(sum(sizes), found["peak_memory"], rel_tol=1e-9)):
            raise SystemExit(f"run {seed} is not consistent: {document}")
    print(f"{count} random runs: finite, not negative, parts add up")


def report(found: Sequence[PublishedRun], *, seen_only: bool) -> None:
    """Print all tables."""
    if seen_only:
        columns = [{case.row["row_id"]: math.log(1 + error(case)) for case in found}]
    else:
        columns = list(unseen(found))
    rows = [case.row["row_id"] for case in found]
    scored = [
        (case, tuple(column[row] for column in columns))
        for case, row in zip(found, rows, strict=True)
    ]
    print(head(len(columns)))
    for title, key in CLASSES.items():
        table(title, scored, key)
    order(found, "seen", columns[0])
    if not seen_only:
        order(found, "without their source", columns[1])
        covered(found, columns[1:])


def covered(found: Sequence[PublishedRun], without: Sequence[dict[str, float]]) -> None:
    """Print how often the ranges hold, without the source and without the model of each run."""
    source, model = without
    print(f"\nMeasured steps in the range{'':28s} rows  without source, without model, in %")
    for name, rows, *shares in coverage(found, {row: (source[row], model[row]) for row in source}):
        print(f"{name[:54]:54s}{rows:6d}" + "".join(f"{100 * share:15.0f}" for share in shares))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--seen", action="store_true")
    parser.add_argument("--rows", default="", metavar="PREFIX")
    parser.add_argument("--random", type=int, default=0, metavar="COUNT")
    options = parser.parse_args()
    if options.random:
        check_random(options.random)
        return
    if not options.table.is_file():
        parser.error(f"table: there is no file {options.table}")
    found, skipped = cases(options.table)
    if options.rows:
        details(case for case in found if case.row["row_id"].startswith(options.rows))
        return
    report(found, seen_only=options.seen)
    for reason in sorted(set(skipped.values())):
        print(f"\nnot read, {reason}: {sum(r == reason for r in skipped.values())} rows")


if __name__ == "__main__":
    main()
