"""Print how far the bus bandwidths of all-reduce are from the measured curves.

    python -m tests.validation.collective_report [TABLE]

With TABLE (`collectives.csv`) first copies the curves that state size, time and system. "Held out"
are the errors from 1 MiB on with constants fitted to the other curves, contradicted points left
out. Then the classes of curves between nodes, to which nothing is fitted (`unseen_curves.py`
prints each of them), and whether their mean error is 15 % at most. No curve could be read of EFA v3
and v4 and of PAT: single points of them stand on the page about bus bandwidth.
"""

import csv
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.core.units import MiB, Ratio
from tests.validation import unseen_curves
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


# What a class of collectives between nodes may be off in the mean.
BAR: Ratio = 0.15
RACK = [name for name, one in unseen_curves.CURVES.items() if one.nodes == 1]
CLASSES = {
    "reduce": "all-reduces",
    "gather": "all-gathers",
    "scatter": "reduce-scatters",
    "exchange": "all-to-alls",
}


def classes() -> Iterator[str]:
    """Yield one line per class of unseen curves between nodes."""
    every = {title: unseen_curves.of_class(what) for what, title in CLASSES.items()}
    for title, names in {**every, "of these in racks": RACK}.items():
        means = [unseen_curves.mean(name) for name in names]
        sound = [one for one in means if one <= BAR] or means
        mean, within = statistics.fmean(means), sum(one <= BAR for one in means)
        kept = "holds" if mean <= BAR else "does not hold"
        yield (
            f"{title:17s} {len(names):3d} curves, {within:3d} within 15 %: mean {100 * mean:5.1f} %"
            f" ({100 * statistics.fmean(sound):.1f} % without those further off),"
            f" worst {100 * max(means):5.1f} %; 15 % {kept}"
        )


def main() -> None:
    """Print one line per curve, from 1 MiB up and from 1 KiB to there, then one per class."""
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
    print("Between nodes, from 1 MiB on, nothing fitted to them:", *classes(), sep="\n")


if __name__ == "__main__":
    main()
