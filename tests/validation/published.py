"""Write how far off the engine is on the published runs.

    python -m tests.validation.published [TABLE]

With TABLE (`training_runs.csv`) first copies the rows that can be used, facts only, to
`engine/catalog/published_table.tsv`. Then predicts each row of that file and writes
`engine/form/run/accuracy.py`. Run it after every change of a formula or a constant; a test compares
the module with what this prints.
"""

import csv
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.catalog.published_runs import SOURCES
from engine.simulate.published_runs import Predicted, predictions
from tests.validation.fit import family
from tests.validation.rows import cases

ROOT = Path(__file__).parents[2]
DATA = ROOT / "engine" / "catalog" / "published_table.tsv"
LEFT_OUT = Path(__file__).parent / "left_out.csv"
LEFT_OUT_DATE = "2026-11-21"
ACCURACY = ROOT / "engine" / "form" / "run" / "accuracy.py"
KEPT = (
    "row_id",
    "source_file",
    "input_completeness",
    "gpu",
    "n_gpus",
    "model",
    "n_layers",
    "hidden",
    "ffn",
    "heads",
    "kv_heads",
    "vocab",
    "seq_len",
    "tp",
    "pp",
    "vpp",
    "cp",
    "ep",
    "sharding",
    "mbs",
    "gbs",
    "recompute",
    "precision",
    "schedule",
    "step_time_s",
    "memory_value",
    "memory_unit",
    "flag",
)


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


def score(errors: Sequence[float]) -> tuple[int, float, float]:
    """Rows, mean and 90th percentile of the absolute error."""
    sizes = sorted(abs(error) for error in errors)
    tail = sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]
    return len(sizes), statistics.fmean(sizes), tail


def accuracy_module(found: Sequence[Predicted]) -> str:
    errors: dict[str, list[float]] = {"dense": [], "mixture": []}
    for one in found:
        errors["mixture" if one.case.moe else "dense"].append(one.error)
    errors["memory"] = [one.memory_error for one in found if one.memory_error is not None]
    lines = [f'    "{kind}": ({n}, {mean:.4f}, {tail:.4f}),' for kind, (n, mean, tail) in
             ((kind, score(values)) for kind, values in errors.items())]  # fmt: skip
    left = []
    for row in csv.DictReader(LEFT_OUT.read_text(encoding="utf-8").splitlines()):
        title = SOURCES[row["source_file"]][1] if row["source_file"] in SOURCES else "all"
        share = ", ".join(f"{float(row[key]) / 100:.3f}" for key in ("mean", "p90", "bias"))
        left.append(f'    ("{title}", "{row["kind"]}", {row["rows"]}, {share}),')
    return (
        '"""How far predictions are from published runs. '
        'Written by tests.validation.published."""\n\n'
        "# Rows, mean and 90th percentile of the absolute error.\nACCURACY = {\n"
        + "\n".join(lines)
        + "\n}\n# Fitted without the source, tested on it: rows, mean, 90th percentile, bias.\n"
        + f'LEFT_OUT_DATE = "{LEFT_OUT_DATE}"\nLEFT_OUT = (\n'
        + "\n".join(left)
        + "\n)\n"
        + f"# GPUs of the largest run of the fit, and the types of GPU that runs were fitted on.\n"
        f"LARGEST = {max(one.case.run.plan.world_size for one in found if one.case.trusted)}\n"
        f"FITTED = {families(found)}\n"
    )


def families(found: Sequence[Predicted]) -> str:
    names = dict.fromkeys(family(one.case) for one in found if one.case.trusted)
    return "(" + ", ".join(f'"{name}"' for name in names) + ")"


def main() -> None:
    if sys.argv[1:]:
        copy(Path(sys.argv[1]))
    ACCURACY.write_text(accuracy_module(predictions()), encoding="utf-8")


if __name__ == "__main__":
    main()
