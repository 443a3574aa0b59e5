"""Write the published runs that the page about them shows, and how far off the engine is.

    python -m tests.validation.published [TABLE]

With TABLE (`training_runs.csv`) first copies the rows that can be used, facts only, to
`content/data/published_runs.csv`. Then predicts each row of that file and writes the two modules
`engine/calculators/_published_{rows,accuracy}.py`. Run it after every change of a formula or a
constant; a test compares the modules with what this prints.
"""

import csv
import re
import statistics
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from engine.calculators.whole_runs.published_runs.fields import SIZES, SWITCHES
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.estimate import estimate
from engine.form.run.inputs import CUSTOM, LIMITED, Inputs
from engine.form.run.repair import LIMITED_GPU
from engine.formulas.parameters import total_parameters
from engine.run.file import Run
from engine.run.parallelism import halves_gradients
from tests.validation import memory_report
from tests.validation.fit import trusted
from tests.validation.rows import Case, cases

ROOT = Path(__file__).parents[2]
DATA = ROOT / "content" / "data" / "published_runs.csv"
LEFT_OUT = ROOT / "content" / "data" / "left_out.csv"
LEFT_OUT_DATE = "2026-11-21"
ROWS = ROOT / "engine" / "calculators" / "_published_rows.py"
ACCURACY = ROOT / "engine" / "calculators" / "_published_accuracy.py"
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

# Table -> (key of the bibliography, name for the reader).
SOURCES = {
    "bloom176b_topology_sweep.csv": ("bigscience2022", "BLOOM topology sweep 2022"),
    "dgxc_recipes_step_time.csv": ("nvidia_dgxc", "NVIDIA DGX Cloud recipes"),
    "fms_fsdp_llama.csv": ("fms_fsdp", "IBM FSDP Llama 2"),
    "internevo_7b_scaling.csv": ("internevo", "InternEvo 7B scaling"),
    "korthikanti_2022_table5.csv": ("korthikanti2022", "Korthikanti 2022, table 5"),
    "llm_foundry_mpt_fsdp.csv": ("mosaicml2023", "LLM Foundry MPT"),
    "megatron_bridge_performance.csv": ("megatron_bridge", "Megatron-Bridge releases"),
    "megatron_sc21_table1.csv": ("narayanan2021", "Narayanan 2021, table 1"),
    "megatron_sc21_table2_zero3.csv": ("narayanan2021", "Narayanan 2021, table 2"),
    "nemo_2407_h100_fp8.csv": ("nemo_2407", "NeMo 24.07"),
    "simumax_b200_measured.csv": ("simumax", "SimuMax B200"),
    "torchtitan.csv": ("torchtitan", "torchtitan"),
    "zero_bubble_tables.csv": ("qi2024", "Zero bubble, tables 3 to 5"),
}
SHAPE = (
    "num_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "ffn_hidden_size",
    "vocab_size",
    "mlp",
    "tied_embeddings",
)
CLUSTER = (
    "gpu",
    "gpus_per_node",
    "nics_per_node",
    "nic_bandwidth",
)


def copy(table: Path) -> None:
    """Write the rows that can be expressed as a run, or that have a memory."""
    used = {case.row["row_id"] for case in cases(table)[0]}
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    with DATA.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, KEPT, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for row in rows if row["row_id"] in used or row["memory_value"])


def inputs_of(run: Run) -> Inputs:
    """The calculator's inputs that give this run."""
    known = next((key for key, model in MODELS.items() if model == run.model), "")
    given = {"model": known or CUSTOM, "gpu": gpu_name(run), "zero_stage": str(run.plan.zero_stage)}
    given["half_gradients"] = halves_gradients(run.training)
    parts = (run.cluster, run.plan, run.training) if known else (
        run.model, run.cluster, run.plan, run.training,
    )  # fmt: skip
    for field in fields(Inputs):
        for part in parts:
            if field.name not in given and hasattr(part, field.name):
                given[field.name] = getattr(part, field.name)
    return Inputs(**given)


def gpu_name(run: Run) -> str:
    if run.cluster.gpu == LIMITED_GPU:
        return LIMITED
    return next(key for key, gpu in ACCELERATORS.items() if gpu == run.cluster.gpu)


def predicted(run: Run) -> float:
    return float(estimate(run)["step_time"])


class Listed:
    """Different texts in the order of their first use."""

    def __init__(self) -> None:
        self.items: list[str] = []

    def index(self, values: Sequence[object]) -> int:
        text = ",".join(word(value) for value in values)
        if text not in self.items:
            self.items.append(text)
        return self.items.index(text)


def word(value: object) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return f"{value:g}" if isinstance(value, float) else str(value)


def name_of(case: Case) -> str:
    """The model's name without remarks, one spelling for one model."""
    name = re.sub(r"\s*\(.*\)", "", case.row["model"]).replace("GPT/BLOOM", "BLOOM-like")
    name = re.sub(r"^(?:LLAMA|Llama-?|llama)\s?(\d)", r"Llama \1", name).replace("GPT3", "GPT-3")
    name = re.sub(r"^(Llama [\d.]+)-(\d+[Bb])", r"\1 \2", name).replace("70b", "70B")
    name = name.replace("mpt-", "MPT-").replace(" class", "")
    if name == "GPT":
        return f"GPT {total_parameters(case.run.model) / 1e9:.1f}B"
    if name.startswith("MPT"):
        return name[:-1] + name[-1].upper()
    if name.startswith("Llama 3 70B "):
        return name.replace("70B ", "70B, ")
    return re.sub(r"^(GPT-3)-", r"\1 ", name)


def rows_module(found: Sequence[Case], memory: dict[str, tuple[float, float]]) -> str:
    names, models, clusters, switches = Listed(), Listed(), Listed(), Listed()
    lines = []
    sources = list(SOURCES)
    for case in found:
        given = inputs_of(case.run)
        take = lambda keys: [getattr(given, key) for key in keys]  # noqa: B023, E731
        custom = given.model == CUSTOM
        row = [
            case.row["row_id"],
            sources.index(case.row["source_file"]),
            names.index([name_of(case)]),
            models.index(take(SHAPE) if custom else [given.model]),
            clusters.index(take(CLUSTER)),
            switches.index(take(SWITCHES)),
            "A" if case.complete else "B",
            "" if trusted(case) else "d",
            *take(SIZES),
            f"{case.time:.6g}",
            f"{predicted(case.run):.5g}",
        ]
        if held := memory.get(case.row["row_id"]):
            row += [f"{size / 1e9:.4g}" for size in held]
        lines.append(",".join(word(value) for value in row))
    parts = {
        "SOURCES": [f"{key}|{title}" for key, title in SOURCES.values()],
        "NAMES": names.items,
        "MODELS": models.items,
        "CLUSTERS": clusters.items,
        "SWITCHES": switches.items,
        "ROWS": lines,
    }
    body = "\n".join(
        f'{key} = """\\\n' + "\n".join(items) + '\n"""' for key, items in parts.items()
    )
    return (
        f'"""The published runs. Written by `python -m tests.validation.published`."""\n\n{body}\n'
    )


def measured_memory() -> dict[str, tuple[float, float]]:
    """Run -> (measured, predicted) peak."""
    return {row.name: (row.measured, row.predicted().total) for row in memory_report.read(DATA)}


def score(errors: Sequence[float]) -> tuple[int, float, float]:
    """Rows, mean and 90th percentile of the absolute error."""
    sizes = sorted(abs(error) for error in errors)
    tail = sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]
    return len(sizes), statistics.fmean(sizes), tail


def accuracy_module(found: Sequence[Case], memory: dict[str, tuple[float, float]]) -> str:
    errors: dict[str, list[float]] = {"dense": [], "mixture": []}
    for case in found:
        kind = "mixture" if case.moe else "dense"
        errors[kind].append(predicted(case.run) / case.time - 1)
    errors["memory"] = [guess / held - 1 for held, guess in memory.values()]
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
    )


def main() -> None:
    if sys.argv[1:]:
        copy(Path(sys.argv[1]))
    found, memory = cases(DATA)[0], measured_memory()
    ROWS.write_text(rows_module(found, memory), encoding="utf-8")
    ACCURACY.write_text(accuracy_module(found, memory), encoding="utf-8")


if __name__ == "__main__":
    main()
