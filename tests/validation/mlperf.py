"""Write how far off the engine is on the steps of MLPerf® Training.

    python -m tests.validation.mlperf [TABLE RUN_FILES]

Predicts every row of `engine/catalog/mlperf_table.tsv`, writes `mlperf_steps_table.tsv` beside it,
and prints the errors by group. Run it after every change of a formula or a constant;
`test_mlperf.py` compares the table with the model. With TABLE (`mlperf_runs.csv`) and RUN_FILES
(`mlperf_run_files.json`, a run file by row) it copies the rows of the benchmark, facts only, to the
first of the two tables, and no more.
"""

import csv
import json
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from engine.calculators.whole_runs.mlperf_runs.result import DIVISIONS, Compared, groups, rows_of
from engine.catalog.mlperf_runs import SEEN, mlperf_runs
from engine.catalog.mlperf_steps import TERMS, read_steps
from engine.form.run.form_values import estimate_query, fits_form, inputs_of
from engine.run.document import read_document
from engine.run.run import Run
from engine.simulate.memory.allocator import memory_fit
from engine.simulate.memory.memory import rank_memory
from engine.simulate.step.step_range import sizes_beyond_fit, step_range
from engine.simulate.step.step_time import step_time

CATALOG = Path(__file__).parents[2] / "engine" / "catalog"
RUNS, TARGET = CATALOG / "mlperf_table.tsv", CATALOG / "mlperf_steps_table.tsv"
# Column of the table here -> that of the rows.
KEPT = {
    "key": "row_id",
    "version": "mlperf_version",
    "submitter": "submitter",
    "system": "system",
    "benchmark": "benchmark",
    "accelerator": "accelerator",
    "gpu": "gpu",
    "world_size": "n_gpus",
    "step": "step_time_s",
    "step_p99": "step_p99_s",
    "block_mean": "step_mean_blocks_s",
    "samples": "n_step_samples",
    "runs": "n_runs",
    "time_to_train": "time_to_train_min_median",
    "method": "step_method",
    "precision": "precision",
    "note": "input_completeness",
    "duplicate_of": "duplicate_of",
    "repository": "source",
    "commit": "commit",
    "log": "log_path",
}


def copy(table: Path, run_files: Path) -> None:
    """Write the rows of the benchmark; those without its version are of other sources."""
    documents = json.loads(run_files.read_text(encoding="utf-8"))
    rows = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    lines = ["\t".join([*KEPT, "run_file"])]
    for row in rows:
        if row["mlperf_version"]:
            document = documents.get(row["row_id"])
            told = json.dumps(document, separators=(",", ":")) if document else ""
            lines.append("\t".join([*(_cell(name, row) for name in KEPT), told]))
    RUNS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _cell(name: str, row: dict[str, str]) -> str:
    text = row[KEPT[name]]
    if name == "time_to_train":
        return f"{60 * float(text):.2f}" if text else ""
    if name == "repository":
        return "/".join(text.removeprefix("https://github.com/").split("/")[:2])
    if name == "note":
        missing = row["estimable"].removeprefix("yes").removeprefix("no: ")
        return missing or text.removeprefix("A").removeprefix("B: ")
    return text


def query_of(run: Run) -> str:
    """Return the run in the form of the estimate; "" where the form has no field for it."""
    return estimate_query(inputs_of(run)) if fits_form(run) else ""


def _line(key: str, run: Run, counted: Collection[str]) -> str:
    step = step_time(run.model, run.cluster, run.plan, run.training)
    low, high, spread = step_range(run, step.total)
    fit = memory_fit(rank_memory(run.model, run.plan, run.training), run.cluster.gpu.memory)
    times = [step.total, low, high]
    # As in `published`: what goes beyond the fit has a wider range, which it does not make.
    calibrates = key in counted and key not in SEEN and not any(sizes_beyond_fit(run))
    told = [
        _yes(key in SEEN),
        _yes(calibrates),
        *map(_digits, times),
        _yes(bool(spread.beyond)),
        _yes(fit.runs),
    ]
    terms = [_digits(getattr(step, name)) for name in TERMS]
    return "\t".join([key, *told, spread.name, *terms, query_of(run)])


def _digits(value: float) -> str:
    return f"{value:.5g}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def lines() -> Iterator[str]:
    """Yield the head and the predicted step of every row with a run file."""
    ends = ("predicted", "low", "high", "warned", "fits", "range_class")
    yield "\t".join(["key", "seen", "calibrates", *ends, *TERMS, "query"])
    counted = {row.key for row in mlperf_runs() if row.counted}
    for row in mlperf_runs():
        if row.run_file:
            yield _line(row.key, read_document(json.loads(row.run_file)), counted)


def text() -> str:
    """Return the table."""
    return "\n".join(lines()) + "\n"


def report(rows: Sequence[Compared]) -> None:
    """Print the errors and the hits of the ranges, by every division."""
    for division, title in DIVISIONS.items():
        print(f"\n{title:60s} rows  mean  bias worst in range warned, in %")
        for one in groups(rows, division):
            shares = (one.errors.mean, one.errors.bias, one.errors.worst, one.inside, one.warned)
            numbers = "".join(f"{100 * share:6.1f}" for share in shares)
            print(f"{one.name[:60]:60s}{len(one.rows):5d}{numbers}")


def main() -> None:
    """Copy the rows, or predict them."""
    if sys.argv[1:]:
        copy(*map(Path, sys.argv[1:3]))
        return
    predicted = text()
    TARGET.write_text(predicted, encoding="utf-8")
    report(rows_of(read_steps(predicted)))


if __name__ == "__main__":
    main()
