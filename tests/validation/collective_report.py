"""Print how far all-reduce times are from the measured curves.

    python -m tests.validation.collective_report TABLE

TABLE is `collectives.csv`. Curves with a stated size, time and system only.
"""

import csv
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.formulas.transfer_time import all_reduce_time
from engine.units import GB, MICRO, MiB

# Start of the system's name -> ranks, nodes, bus bandwidth of large messages, a switch that adds.
# NVLink at the share of `engine.constants`; 42.6 GB/s is 0.85 of four ports of 100 Gb/s.
SYSTEMS = {
    "8x A100": (8, 1, 235 * GB, False),
    "Azure ND_A100": (8, 1, 235 * GB, False),
    "8x H200 node (NVLink4, NVLS on)": (8, 1, 365 * GB, True),
    "Azure ND_H200": (8, 1, 365 * GB, True),
    "DGX H100 (NVIDIA": (8, 1, 365 * GB, True),
    "4-node example": (32, 4, 96 * GB, False),
    "AWS 2x p4de": (16, 2, 42.6 * GB, False),
}


def percent(errors: Sequence[float]) -> str:
    """Mean and worst absolute error."""
    sizes = [abs(value) for value in errors]
    return f"{100 * statistics.fmean(sizes):6.1f} {100 * max(sizes):6.1f}"


def main(path: Path) -> None:
    """Print one line per system: from 1 MiB up, and from 1 KiB to there."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in SYSTEMS}
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            name = next((key for key in SYSTEMS if row["system"].startswith(key)), "")
            if not (name and row["size_bytes"] and row["time_us"]):
                continue
            size = float(row["size_bytes"])
            time = all_reduce_time(size, *SYSTEMS[name])
            found[name].append((size, time / (float(row["time_us"]) * MICRO) - 1))
    print(f"{'':34s} from 1 MiB: mean  worst  below: mean  worst")
    for name, curve in found.items():
        large = [error for size, error in curve if size >= MiB]
        small = [error for size, error in curve if 1024 <= size < MiB]
        print(f"{name:34s}      {percent(large)}      {percent(small)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
