"""Write how far off the engine is on the published runs.

    python -m tests.validation.published [TABLE]

With TABLE (`training_runs.csv`) first copies the rows that can be used, facts only, to
`engine/catalog/published_table.tsv`. Then predicts each row of that file, also with constants that
were fitted without its source and without its model (`unseen.csv`), and writes what pages tell of
it: `engine/form/run/accuracy.py` and `fitted_constants.py`, `engine/catalog/unseen_errors.py`,
`unseen_table.tsv` and `nearest_runs_table.tsv`. Run it after every change of a formula or a
constant; tests compare the modules with what this prints.
"""

import csv
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.catalog.published_runs import SOURCES
from engine.run.published import PublishedRun
from engine.simulate.step.published_runs import PredictedRun, predictions
from engine.simulate.step.step_range import layer_at_peak, run_classes, sizes_beyond_fit
from tests.validation.audited import audited_errors, audited_runs
from tests.validation.calibrate import FEWEST, Both, ranges
from tests.validation.fit import Name, family, prior, tabled
from tests.validation.fit import lines as lines_of
from tests.validation.nearby import nearby_text
from tests.validation.rows import cases
from tests.validation.unseen import reaches, unseen

ROOT = Path(__file__).parents[2]
DATA = ROOT / "engine" / "catalog" / "published_table.tsv"
UNSEEN = Path(__file__).parent / "unseen.csv"
ACCURACY = ROOT / "engine" / "form" / "run" / "accuracy.py"
ERRORS = ROOT / "engine" / "catalog" / "unseen_errors.py"
UNSEEN_RUNS = ROOT / "engine" / "catalog" / "unseen_table.tsv"
CONSTANTS = ROOT / "engine" / "form" / "run" / "fitted_constants.py"
NEARBY = ROOT / "engine" / "catalog" / "nearest_runs_table.tsv"
KEPT = (
    *("row_id", "source_file", "input_completeness", "gpu", "n_gpus", "model", "n_layers"),
    *("hidden", "ffn", "heads", "kv_heads", "vocab", "seq_len", "tp", "pp", "vpp", "cp", "ep"),
    *("sharding", "mbs", "gbs", "recompute", "precision", "schedule", "step_time_s"),
    *("memory_value", "memory_unit", "flag"),
)
REACHES = (
    lambda case: case.run.plan.world_size,
    lambda case: case.run.training.sequence_length,
    lambda case: case.run.model.num_experts,
)
# Layers at the peak are told of in whole microseconds.
SHORTEST = 1e6


def copy(table: Path) -> None:
    """Write the rows that can be expressed as a run, or that have a memory."""
    used = {case.row["row_id"] for case in cases(table)[0]}
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    with DATA.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, KEPT, extrasaction="ignore", lineterminator="\n", delimiter="\t"
        )
        writer.writeheader()
        writer.writerows(row for row in rows if row["row_id"] in used or row["memory_value"])


def write_unseen(found: Sequence[PublishedRun]) -> None:
    """Write the logarithms of predicted over measured: seen, without source, without model.

    And the constants, with what each was assumed and how far leaving a source out moves it.
    """
    drawn = lines_of(found, tabled())
    seen, by_source, by_model = unseen(found, drawn)
    CONSTANTS.write_text(constants_module(reaches(found, drawn)), encoding="utf-8")
    lines = ["row_id,seen,without_source,without_model"]
    lines += [
        f"{row},{seen[row]:.4f},{by_source[row]:.4f},{by_model[row]:.4f}" for row in sorted(seen)
    ]
    UNSEEN.write_text("\n".join(lines) + "\n", encoding="utf-8")


def constants_module(reached: Mapping[Name, tuple[float, float]]) -> str:
    """Return the module that tells every fitted constant."""
    at = tabled()
    rows = [
        (owner, of, at.value((owner, of)), prior((owner, of))[0], *ends)
        for (owner, of), ends in reached.items()
    ]
    lines_ = [f'    ("{owner}", "{of}", ' + ", ".join(f"{x:.4g}" for x in numbers) + "),"
              for owner, of, *numbers in rows]  # fmt: skip
    return (
        '"""What was fitted. Written by tests.validation.published."""\n\n'
        "# Type of GPU, or common; constant; as fitted to all runs; as assumed before; the lowest\n"
        "# and the highest when any one source is left out of the fit.\n"
        "CONSTANTS: tuple[tuple[str, str, float, float, float, float], ...] = (\n"
        + "\n".join(lines_)
        + "\n)\n"
    )


def unseen_text() -> str:
    """Return the table of each run's errors, fitted without its source and without its model."""
    lines = (f"{row}\t{source:.4f}\t{model:.4f}" for row, (source, model) in read_both().items())
    return "\n".join(lines) + "\n"


def read_unseen() -> dict[str, tuple[float, float, float]]:
    """Return those logarithms by row."""
    rows = csv.DictReader(UNSEEN.read_text(encoding="utf-8").splitlines())
    return {
        row["row_id"]: (
            float(row["seen"]),
            float(row["without_source"]),
            float(row["without_model"]),
        )
        for row in rows
    }


def read_both() -> dict[str, Both]:
    """Return the two of them that are unseen, by row."""
    return {row: (source, model) for row, (_, source, model) in read_unseen().items()}


def score(errors: Sequence[float]) -> tuple[int, float, float, float]:
    """Rows, mean and 90th percentile of the absolute error, and bias."""
    sizes = sorted(abs(error) for error in errors)
    tail = sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]
    return len(sizes), statistics.fmean(sizes), tail, statistics.fmean(errors)


def accuracy_module(found: Sequence[PredictedRun]) -> str:
    logs = read_unseen()
    errors: dict[str, list[float]] = {"dense": [], "mixture": []}
    left: dict[tuple[str, str], list[float]] = {("all", "dense"): [], ("all", "mixture"): []}
    model: dict[str, list[float]] = {"dense": [], "mixture": []}
    for one in found:
        kind = "mixture" if one.case.moe else "dense"
        _, source, name = (math.expm1(value) for value in logs[one.case.row["row_id"]])
        errors[kind].append(one.error)
        model[kind].append(name)
        left["all", kind].append(source)
        left.setdefault((SOURCES[one.case.row["source_file"]][1], kind), []).append(source)
    errors["memory"] = [one.memory_error for one in found if one.memory_error is not None]
    lines = [f'    "{kind}": ({n}, {mean:.4f}, {tail:.4f}),' for kind, (n, mean, tail, _) in
             ((kind, score(values)) for kind, values in errors.items())]  # fmt: skip
    told = [f'    ("{title}", "{kind}", {n}, {mean:.3f}, {tail:.3f}, {bias:.3f}),'
            for (title, kind), (n, mean, tail, bias) in
            ((key, score(values)) for key, values in left.items())]  # fmt: skip
    named = [f'    "{kind}": ({n}, {mean:.3f}, {tail:.3f}),' for kind, (n, mean, tail, _) in
             ((kind, score(values)) for kind, values in model.items())]  # fmt: skip
    return (
        '"""How far predictions are from published runs. '
        'Written by tests.validation.published."""\n\n'
        "# Rows, mean and 90th percentile of the absolute error.\nACCURACY = {\n"
        + "\n".join(lines)
        + "\n}\n# Fitted without the source, tested on it: rows, mean, 90th percentile, bias.\n"
        + "LEFT_OUT = (\n"
        + "\n".join(told)
        + "\n)\n# Fitted without the model, tested on it: rows, mean, 90th percentile.\n"
        + "WITHOUT_MODEL = {\n"
        + "\n".join(named)
        + "\n}\n"
    )


def errors_module(found: Sequence[PublishedRun]) -> str:
    """Return the module with the classes and the reach of the runs."""
    # What goes beyond the fit has a wider range than its class, which it does not make.
    audited = [case for case in audited_runs() if not any(sizes_beyond_fit(case.run))]
    classes = ranges([*found, *audited], {**read_both(), **audited_errors()})
    lines = [
        f'    "{name}": ({count}, {low:.5f}, {high:.5f}),'
        for name, (count, low, high) in classes.items()
    ]
    trusted = [case for case in found if case.trusted]
    names = dict.fromkeys(family(case) for case in trusted)
    reach = {
        kind: (
            *(max(key(case) for case in of) for key in REACHES),
            math.floor(SHORTEST * min(layer_at_peak(case.run) for case in of)) / SHORTEST,
        )
        for kind in ("dense models", "mixtures of experts")
        if (of := [case for case in trusted if run_classes(case.run)[-1] == kind])
    }
    reached = "".join(f'    "{kind}": {ends},\n' for kind, ends in reach.items())
    return (
        '"""How far off runs are that no fit saw. Written by tests.validation.published."""\n\n'
        "# Class -> runs, and the logarithms of predicted over measured between which 85 % of\n"
        "# them lie, with constants fitted without the source, and without the model, of each.\n"
        "# Runs of MLPerf Training are in no fit. Few adapters take after the class around.\n"
        "CLASSES: dict[str, tuple[int, float, float]] = {\n" + "\n".join(lines) + "\n}\n"
        "# A class has so many runs, or none is made of it.\n"
        f"FEWEST = {FEWEST}\n"
        "# The most GPUs, the longest sequence, the most experts and the shortest layer at the\n"
        "# peak of the GPU, of the runs of the fit, by kind of model, and their types of GPU.\n"
        "REACH: dict[str, tuple[int, int, int, float]] = {\n" + reached + "}\n"
        "FITTED = (" + ", ".join(f'"{name}"' for name in names) + ")\n"
    )


def main() -> None:
    if sys.argv[1:]:
        copy(Path(sys.argv[1]))
    found = cases(DATA)[0]
    write_unseen(found)
    ACCURACY.write_text(accuracy_module(predictions()), encoding="utf-8")
    ERRORS.write_text(errors_module(found), encoding="utf-8")
    UNSEEN_RUNS.write_text(unseen_text(), encoding="utf-8")
    NEARBY.write_text(nearby_text(found), encoding="utf-8")


if __name__ == "__main__":
    main()
