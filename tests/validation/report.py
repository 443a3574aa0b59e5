"""Print how far the predicted step times are from the published ones, by group.

    python -m tests.validation.report TABLE [--rows PREFIX | --leave-out | --random COUNT]

TABLE is `training_runs.csv`. Error: predicted over measured, less one; bias keeps the sign.
`--rows` prints single runs, `--leave-out` fits without each source and tests on it, `--random`
estimates that many random runs and checks that they are finite and their parts add up.
"""

import argparse
import math
import random
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from engine.catalog.constants import COMMON, Achieved, Common
from engine.estimate import estimate
from engine.run.file import read
from engine.run.published import Case
from engine.simulate.step_time import step_time
from tests.validation.any_run import any_document
from tests.validation.fit import family, fit_all, fit_common
from tests.validation.published import LEFT_OUT
from tests.validation.rows import cases

Scored = tuple[Case, float]


def error(case: Case, constants: Achieved | None = None, common: Common = COMMON) -> float:
    """The relative error of one run."""
    run = case.run
    found = step_time(run.model, run.cluster, run.plan, run.training, constants, common)
    return found.total / case.time - 1


def summary(errors: Sequence[float]) -> str:
    """Rows, median, mean, 90th percentile and worst absolute error, and bias, in percent."""
    sizes = sorted(abs(value) for value in errors)
    tail = sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]
    numbers = (statistics.median(sizes), statistics.fmean(sizes), tail, sizes[-1])
    texts = " ".join(f"{100 * value:7.1f}" for value in numbers)
    return f"{len(sizes):5d} {texts} {100 * statistics.fmean(errors):+7.1f}"


HEAD = f"{'':44s} {'rows':>5s} {'median':>7s} {'mean':>7s} {'p90':>7s} {'worst':>7s} {'bias':>7s}"


def table(title: str, scored: Iterable[Scored], key: Callable[[Case], str]) -> None:
    """Print one line per group."""
    groups: dict[str, list[float]] = {}
    for case, value in scored:
        groups.setdefault(key(case), []).append(value)
    print(f"\n{title}\n{HEAD}")
    for name, errors in sorted(groups.items()):
        print(f"{name[:44]:44s} {summary(errors)}")


def power_of_two(value: int) -> str:
    """The range of a size: 2^k to 2^(k+1)."""
    return f"{1 << (value.bit_length() - 1):8d}"


def report(scored: Sequence[Scored]) -> None:
    """Print all tables."""
    table("All", scored, lambda c: "mixture" if c.moe else "dense")
    complete = [pair for pair in scored if pair[0].complete]
    table("Complete rows", complete, lambda c: "mixture" if c.moe else "dense")
    dense = [pair for pair in scored if not pair[0].moe]
    table("Source", scored, lambda c: c.row["source_file"] + (" (moe)" if c.moe else ""))
    table("GPU", scored, lambda c: c.row["gpu"] + (" (moe)" if c.moe else ""))
    table("Precision", scored, lambda c: c.run.training.precision + (" (moe)" if c.moe else ""))
    table("Dense, GPUs from", dense, lambda c: power_of_two(c.run.plan.world_size))
    table("Dense, tensor parallel", dense, lambda c: f"{c.run.plan.tensor_parallel:4d}")
    table("Dense, pipeline parallel", dense, lambda c: power_of_two(c.run.plan.pipeline_parallel))
    table("Dense, sequence from", dense, lambda c: power_of_two(c.run.training.sequence_length))
    table("Dense, micro-batch from", dense, lambda c: power_of_two(c.run.training.micro_batch_size))


def details(scored: Iterable[Scored]) -> None:
    """Print one line per run."""
    for case, value in scored:
        run = case.run
        found = step_time(run.model, run.cluster, run.plan, run.training)
        parts = {
            name: f"{100 * getattr(found, name) / found.total:.0f}"
            for name in type(found).__slots__
        }
        shown = " ".join(f"{name}={part}" for name, part in parts.items() if part != "0")
        print(
            f"{case.row['row_id']:28s} {case.time:9.3f} {found.total:9.3f} "
            f"{100 * value:+6.1f}% {shown}"
        )


def leave_out(found: Sequence[Case]) -> None:
    """Fit without each source in turn, print the errors on it, and write them for the page."""
    scored = []
    for source in sorted({case.row["source_file"] for case in found}):
        tested = [case for case in found if case.row["source_file"] == source]
        rest = [case for case in found if case.row["source_file"] != source]
        common = fit_common(rest)
        constants = fit_all(rest, sorted({family(case) for case in tested}), common)
        scored += [(case, error(case, constants[family(case)], common)) for case in tested]
    table("Left out, all", scored, lambda c: "mixture" if c.moe else "dense")
    table("Left out", scored, lambda c: c.row["source_file"] + (" (moe)" if c.moe else ""))
    write_left_out(scored)


def write_left_out(scored: Sequence[Scored]) -> None:
    """Write the table that the page shows: all first, then each source."""
    groups: dict[tuple[str, str], list[float]] = {}
    for case, value in scored:
        kind = "mixture" if case.moe else "dense"
        groups.setdefault(("all", kind), []).append(value)
        groups.setdefault((case.row["source_file"], kind), []).append(value)
    lines = ["source_file,kind,rows,median,mean,p90,worst,bias"]
    for (source, kind), errors in sorted(groups.items()):
        lines.append(",".join([source, kind, *summary(errors).split()]).replace("+", ""))
    LEFT_OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


def check_random(count: int) -> None:
    """Estimate random runs; stop at the first that is not finite or does not add up."""
    for seed in range(count):
        document = any_document(random.Random(f"report {seed}"))
        found = estimate(read(document))
        times, sizes = found["time"].values(), found["memory"].values()
        fine = all(math.isfinite(value) and value >= 0 for value in (*times, *sizes))
        fine = fine and math.isclose(sum(times), found["step_time"], rel_tol=1e-9)
        if not (fine and math.isclose(sum(sizes), found["peak_memory"], rel_tol=1e-9)):
            raise SystemExit(f"run {seed} is not consistent: {document}")
    print(f"{count} random runs: finite, not negative, parts add up")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--rows", default="", metavar="PREFIX")
    parser.add_argument("--leave-out", action="store_true")
    parser.add_argument("--random", type=int, default=0, metavar="COUNT")
    options = parser.parse_args()
    if options.random:
        check_random(options.random)
        return
    found, skipped = cases(options.table)
    if options.leave_out:
        leave_out(found)
        return
    scored = [(case, error(case)) for case in found]
    if options.rows:
        details(pair for pair in scored if pair[0].row["row_id"].startswith(options.rows))
        return
    report(scored)
    reasons = sorted(set(skipped.values()))
    for reason in reasons:
        print(f"\nleft out, {reason}: {sum(r == reason for r in skipped.values())} rows")


if __name__ == "__main__":
    main()
