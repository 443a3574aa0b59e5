"""Peaks of memory that nothing was fitted to: `python -m tests.validation.peaks`.

Facts of torchtitan's benchmarks (github.com/pytorch/torchtitan, benchmarks/, BSD-3-Clause) and of
SimuMax's summary for the B200 (github.com/MooreThreads/SimuMax, docs/b200, v1.2), read in November
2026. torchtitan cuts a local batch into as many micro-batches as the pipeline has stages.
"""

import csv
import statistics
from dataclasses import replace
from pathlib import Path

from engine.catalog.models import MODELS
from engine.core.units import GB, Bytes, GiB
from engine.run.file import read_run
from engine.run.run import Run
from engine.simulate.memory.allocator import reported_bytes
from engine.simulate.memory.memory import rank_memory

TABLE = Path(__file__).parent / "memory_peaks.tsv"
_AXES = {
    "tensor_parallel": "tp",
    "pipeline_parallel": "pp",
    "virtual_pipeline": "vpp",
    "context_parallel": "cp",
    "expert_parallel": "ep",
    "zero_stage": "zero",
    "world_size": "world",
}


def rows():
    with TABLE.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def run_of(row) -> Run:
    gpu = row["gpu"] if row["gpu"] != "H100-96" else {"like": "H100-SXM", "memory": 96e9}
    run = read_run(
        {
            "model": row["model"],
            "sequence_length": int(row["length"]),
            "cluster": {
                "gpu": gpu,
                "gpus_per_node": 8,
                "nics_per_node": 8,
                "nic_bandwidth": 50e9,
            },
            "parallelism": {key: int(row[name]) for key, name in _AXES.items()},
            "training": {
                "micro_batch_size": int(row["mbs"]),
                "global_batch_size": int(row["gbs"]),
                "recompute": row["recompute"],
                "precision": row["precision"],
                "framework": row["framework"],
                "compiled": row["compiled"] == "yes",
            },
        }
    )
    # The cut models have one dense layer, and none that predicts further tokens.
    model = replace(run.model, num_layers=int(row["layers"]))
    if model.num_layers < MODELS[row["model"]].num_layers:
        model = replace(
            model, num_prediction_layers=0, num_dense_layers=min(1, model.num_dense_layers)
        )
    return replace(run, model=model, training=replace(run.training, **_software(row)))


def _software(row) -> dict[str, bool]:
    """Return what the source's versions do and a run file has no key for.

    torchtitan of December 2024 did not compile its loss; that of June 2025 (e7c0cae) did, with
    products in fp8 as aten.mm of torchao's tensors (0afa4c1), which selective recomputation keeps.
    """
    early = row["source"].startswith("torchtitan 2024")
    kept = row["source"].startswith("torchtitan 2025")
    return {"eager_loss": early, "keeps_quantized_products": kept}


def _reported(run: Run) -> Bytes:
    memory = rank_memory(run.model, run.plan, run.training)
    return reported_bytes(memory, run.training)


def error(row) -> float:
    """Predicted over measured, less one."""
    run = run_of(row)
    return _reported(run) / (float(row["gib"]) * GiB) - 1


def main():
    errors = []
    for row in rows():
        run = run_of(row)
        held = rank_memory(run.model, run.plan, run.training)
        errors.append(error(row))
        parts = " ".join(
            f"{getattr(held, part) / GB:6.1f}"
            for part in (
                "parameters",
                "gradients",
                "optimizer",
                "activations",
                "buffers",
                "reserve",
            )
        )
        print(
            f"{row['source'][:22]:22} {row['name']:40} {parts} | {_reported(run) / GB:6.1f} "
            f"{float(row['gib']) * GiB / GB:6.1f} GB {100 * errors[-1]:+6.1f} %"
        )
    sizes = [abs(value) for value in errors]
    print(f"mean {100 * statistics.fmean(sizes):.1f} %, worst {100 * max(sizes):.1f} %")


if __name__ == "__main__":
    main()
