"""Write the sample of a sweep again, for the jobs that it has.

python -m tests.engine.write_sweep_sample
"""

import csv
import io
from pathlib import Path
from typing import Any

from engine.catalog.models import MODELS
from engine.form.sweep_sample import TEXT
from engine.run.sweep_grid import read_grid
from engine.sweep_run import point_rows

SAMPLE = Path(__file__).parents[2] / "engine" / "form" / "sweep_sample.tsv"
NAMES = {model.name: key for key, model in MODELS.items()}


def text() -> str:
    """Return the table with the plans and times of today."""
    rows = list(csv.DictReader(io.StringIO(TEXT), delimiter="\t"))
    found: list[dict[str, Any]] = []
    jobs = dict.fromkeys(
        (row["model"], row["cluster"], row["gpu"], row["world_size"], row["nic_bandwidth"],
         row["sequence_length"])
        for row in rows
    )  # fmt: skip
    for model, cluster, gpu, gpus, bandwidth, length in jobs:
        grid = {
            "models": [NAMES[model]],
            "clusters": [
                {
                    "name": cluster,
                    "world_size": int(gpus),
                    "gpu": {"H100 SXM": "H100-SXM", "A100 SXM 80 GB": "A100-SXM-80GB"}[gpu],
                    "gpus_per_node": 8,
                    "nics_per_node": 8,
                    "nic_bandwidth": float(bandwidth),
                }
            ],
            "sequence_lengths": [int(length)],
            "prices": [2.0, 3.0],
            "global_batch_tokens": 4_194_304,
            "tokens": 10**12,
            "kept_free": 0.05,
        }
        for point in read_grid(grid):
            found += point_rows(point)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(found[0]), delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return out.getvalue()


if __name__ == "__main__":
    SAMPLE.write_text(text(), encoding="utf-8")
