"""Print how far the bus bandwidths of all-reduce are from the measured curves.

    python -m tests.validation.collective_report [TABLE]

With TABLE (`collectives.csv`) first copies the curves that state size, time and system. "Held out"
are the errors from 1 MiB on with constants fitted to the other curves, contradicted points left
out. Other curves between nodes, to which nothing is fitted, are in `unseen_curves.py`, those of EFA
v2 among them. No curve could be read of EFA v3 and v4, of NVLSTree and of PAT: single points of
them stand on the page about bus bandwidth.
"""

import csv
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.basis.units import MiB
from tests.validation.curves import CURVES, DATA, error, read
from tests.validation.fit_collectives import OWN, held_out


def copy(table: Path) -> None:
    """Write the points of all curves, from 1 KiB on."""
    lines = ["curve,size,microseconds"]
    with table.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for name, one in CURVES.items():
                timed = row["time_us"] and int(row["size_bytes"]) >= 1024
                if timed and row["system"].startswith(one.system):
                    lines.append(f'"{name}",{row["size_bytes"]},{row["time_us"]}')
    DATA.write_text("\n".join(lines) + "\n", encoding="utf-8")


def percent(errors: Sequence[float]) -> str:
    """Mean and worst absolute error."""
    sizes = [abs(value) for value in errors]
    return f"{100 * statistics.fmean(sizes):6.1f} {100 * max(sizes):6.1f}"


def main() -> None:
    """Print one line per curve: from 1 MiB up, and from 1 KiB to there."""
    if sys.argv[1:]:
        copy(Path(sys.argv[1]))
    titles = "from 1 MiB: mean  worst  below: mean  worst  held out: mean  worst"
    print(f"{'':20s} {titles}")
    for name, points in read().items():
        found = [(size, error(CURVES[name], size, time)) for size, time in points]
        large = [value for size, value in found if size >= MiB]
        small = [value for size, value in found if size < MiB]
        unseen = "" if name == OWN else percent(held_out(name))
        print(f"{name:20s}      {percent(large)}      {percent(small)}      {unseen}")


if __name__ == "__main__":
    main()
