"""Peak memory against published measurements: `python -m tests.validation.memory_report RUNS.csv`.

RUNS.csv is the table of training runs. Rows without a memory are passed over. `--fit` looks for the
allowances of `engine.catalog.constants` on a grid; nothing else is fitted.
"""

import statistics
import sys
from dataclasses import replace
from pathlib import Path

from engine.core.units import GB, GiB
from engine.run.published import PublishedRun
from engine.simulate.memory import allocator, memory
from engine.simulate.memory.allocator import Memory, reported_bytes
from tests.validation.rows import cases

PARTS = ("parameters", "gradients", "optimizer", "activations", "buffers", "reserve")


def read(path: str) -> list[PublishedRun]:
    """Return the runs of the table that have a memory."""
    return [case for case in cases(Path(path))[0] if case.held]


def predicted(case: PublishedRun) -> Memory:
    """Return what the fullest rank of the run holds."""
    return memory.rank_memory(case.run.model, case.run.plan, case.run.training)


def summary(errors):
    sizes = sorted(abs(error) for error in errors)
    tail = sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]
    return (
        f"{len(sizes):5d} {statistics.median(sizes):7.1f} {statistics.mean(sizes):7.1f} "
        f"{tail:7.1f} {sizes[-1]:7.1f} {statistics.mean(errors):+7.1f}"
    )


def main(path, *, every_row=False):
    errors = {}
    for case in read(path):
        found = predicted(case)
        reported = reported_bytes(found, case.run.training)
        error = 100 * (reported / case.held - 1)
        errors.setdefault(case.row["source_file"].removesuffix(".csv"), []).append(error)
        errors.setdefault("all", []).append(error)
        if every_row:
            parts = " ".join(f"{getattr(found, part) / GB:6.1f}" for part in PARTS)
            plan, training = case.run.plan, case.run.training
            print(
                f"{case.row['row_id']:24} tp{plan.tensor_parallel} pp{plan.pipeline_parallel} "
                f"dp{plan.world_size // plan.tensor_parallel // plan.pipeline_parallel} "
                f"mbs{training.micro_batch_size} {case.run.model.num_layers}L "
                f"{training.precision} {parts} | stage {found.stage} {reported / GB:6.1f} "
                f"{case.held / GB:6.1f} GB {error:+6.1f} % {case.row['flag'][:40]}"
            )
    print(
        f"{'percent error':32}{'rows':>5} {'median':>7} {'mean':>7} {'p90':>7} {'worst':>7}    bias"
    )
    for group, found in errors.items():
        print(f"{group:32}{summary(found)}")


# Values that each allowance is tried at.
GRID = {
    "fragments": [0.01 * n for n in range(16)],
    "workspace": [0.1 * n * GiB for n in range(11)],
    "channels": [0.25 * n * GiB for n in range(9)],
}


def mean_error(found):
    return statistics.fmean(
        abs(reported_bytes(predicted(case), case.run.training) / case.held - 1) for case in found
    )


def fit(path):
    """Print the best of each grid, one after the other; the context was measured."""
    rows = read(path)
    for name, values in GRID.items():
        found = []
        for value in values:
            allocator.ALLOWANCES = replace(allocator.ALLOWANCES, **{name: value})
            found.append((mean_error(rows), value))
        best = min(found)
        allocator.ALLOWANCES = replace(allocator.ALLOWANCES, **{name: best[1]})
        print(f"{name} = {best[1]:.4g}, mean error {100 * best[0]:.2f} %")


if __name__ == "__main__" and "--fit" in sys.argv:
    fit(sys.argv[1])
elif __name__ == "__main__":
    main(sys.argv[1], every_row="--rows" in sys.argv)
