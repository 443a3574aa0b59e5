"""Peak memory against published measurements: `python -m tests.validation.memory_report RUNS.csv`.

RUNS.csv is the table of training runs. Rows without a memory are passed over. `--fit` looks for the
allowances of `engine.catalog.constants` on a grid; nothing else is fitted.
"""

import csv
import re
import statistics
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from engine.basis.units import GB, GiB
from engine.catalog.models import Model
from engine.run.parallelism import Plan, Training
from engine.simulate import memory
from engine.simulate.memory import Memory

SOURCES = {
    "bloom176b_topology_sweep.csv": "deepspeed",
    "torchtitan.csv": "fsdp",
}
SCHEDULES = {"1F1B": "1f1b", "1F1B-I": "interleaved", "ZB-1p": "zb-1p", "ZB-2p": "zb-2p"}


@dataclass(frozen=True)
class Row:
    name: str
    group: str
    flag: str
    measured: float
    model: Model
    plan: Plan
    training: Training

    def predicted(self) -> Memory:
        return memory.memory(self.model, self.plan, self.training)


def count(row, key, default):
    found = re.match(r"\d+", row[key] or "")
    return int(found.group()) if found else default


def model_of(row):
    gated = "lama" in row["model"]
    heads = count(row, "heads", 1)
    return Model(
        name=row["model"],
        num_layers=count(row, "n_layers", 0),
        hidden_size=count(row, "hidden", 0),
        num_attention_heads=heads,
        num_key_value_heads=count(row, "kv_heads", heads),
        ffn_hidden_size=count(row, "ffn", 0),
        vocab_size=count(row, "vocab", 51200),
        mlp="swiglu" if gated else "gelu",
        tied_embeddings=not gated,
        learned_positions=0 if gated else count(row, "seq_len", 0),
        biases=not gated,
    )


def zero_stage(row):
    found = re.search(r"ZeRO-(\d)", row["sharding"])
    if found:
        return int(found.group(1))
    return 3 if "full shard" in row["sharding"] else 0


def recompute_of(row):
    word = row["recompute"].split(" ")[0]
    return word if word in ("full", "selective") else "none"


def plan_of(row):
    schedule = SCHEDULES.get(row["schedule"], "1f1b")
    ranks, layers = count(row, "pp", 1), count(row, "n_layers", 0)
    # The zero-bubble paper's interleaved runs have pieces of one layer; its ends have one less.
    virtual = (layers + 2) // ranks if schedule == "interleaved" else count(row, "vpp", 1)
    tensor = count(row, "tp", 1)
    return Plan(
        world_size=count(row, "n_gpus", 1),
        tensor_parallel=tensor,
        pipeline_parallel=ranks,
        virtual_pipeline=virtual,
        context_parallel=count(row, "cp", 1),
        # DeepSpeed's fork of Megatron had none.
        sequence_parallel=tensor > 1 and "bloom" not in row["source_file"],
        zero_stage=zero_stage(row),
    )


def training_of(row):
    precision = next(one for one in ("fp8", "bf16", "fp16") if one in row["precision"].lower())
    return Training(
        micro_batch_size=count(row, "mbs", 1),
        global_batch_size=count(row, "gbs", 1),
        sequence_length=count(row, "seq_len", 0),
        precision=precision,
        recompute=recompute_of(row),
        # Megatron's fork of 2022 and that of the zero-bubble paper form the score matrix.
        flash_attention="zero_bubble" not in row["source_file"]
        and "bloom" not in row["source_file"],
        schedule=SCHEDULES.get(row["schedule"], "1f1b"),
        framework=SOURCES.get(row["source_file"], "megatron"),
        compiled="compile=no" not in row["schedule"],
        gradient_precision="bf16" if "bf16 gradients" in row["sharding"] else "",
    )


def read(path):
    for row in csv.DictReader(Path(path).read_text(encoding="utf-8").splitlines()):
        if not row["memory_value"]:
            continue
        unit = GiB if "GiB" in row["memory_unit"] else GB
        yield Row(
            name=row["row_id"],
            group=row["source_file"].removesuffix(".csv"),
            flag=row["flag"],
            measured=float(row["memory_value"]) * unit,
            model=model_of(row),
            plan=plan_of(row),
            training=training_of(row),
        )


def summary(errors):
    sizes = sorted(abs(error) for error in errors)
    tail = sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]
    return (
        f"{len(sizes):5d} {statistics.median(sizes):7.1f} {statistics.mean(sizes):7.1f} "
        f"{tail:7.1f} {sizes[-1]:7.1f} {statistics.mean(errors):+7.1f}"
    )


def main(path, *, every_row=False):
    errors = {}
    for row in read(path):
        found = row.predicted()
        error = 100 * (found.total / row.measured - 1)
        errors.setdefault(row.group, []).append(error)
        errors.setdefault("all", []).append(error)
        if every_row:
            parts = " ".join(
                f"{getattr(found, part) / GB:6.1f}"
                for part in (
                    "parameters",
                    "gradients",
                    "optimizer",
                    "activations",
                    "buffers",
                    "reserve",
                )
            )
            plan, training = row.plan, row.training
            print(
                f"{row.name:24} tp{plan.tensor_parallel} pp{plan.pipeline_parallel} "
                f"dp{plan.world_size // plan.tensor_parallel // plan.pipeline_parallel} "
                f"mbs{training.micro_batch_size} {row.model.num_layers}L {training.precision} "
                f"{parts} | stage {found.stage} {found.total / GB:6.1f} "
                f"{row.measured / GB:6.1f} GB {error:+6.1f} % {row.flag[:40]}"
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


def mean_error(rows):
    return statistics.fmean(abs(row.predicted().total / row.measured - 1) for row in rows)


def fit(path):
    """Print the best of each grid, one after the other; the context was measured."""
    rows = list(read(path))
    for name, values in GRID.items():
        found = []
        for value in values:
            memory.ALLOWANCES = replace(memory.ALLOWANCES, **{name: value})
            found.append((mean_error(rows), value))
        best = min(found)
        memory.ALLOWANCES = replace(memory.ALLOWANCES, **{name: best[1]})
        print(f"{name} = {best[1]:.4g}, mean error {100 * best[0]:.2f} %")


if __name__ == "__main__" and "--fit" in sys.argv:
    fit(sys.argv[1])
elif __name__ == "__main__":
    main(sys.argv[1], every_row="--rows" in sys.argv)
