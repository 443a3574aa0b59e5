"""Measures what the README reports: `python -m tests.bench.run [--only start page trace ...]`.

Prints a table; writes the numbers with date and machine to tests/bench/results.json, misses
included. Nothing else may run on the machine meanwhile.
"""

import argparse
import datetime
import json
import os
import platform
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.bench import building, collectives, estimate, page, simulate, start, trace

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).with_name("results.json")


def machine() -> str:
    """Return what the numbers were measured on."""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python " + (
        platform.python_version()
    )


def main() -> None:
    """Run the parts asked for and keep the results of the others."""
    parts: dict[str, Callable[[], dict[str, object]]] = {
        "building": building.run,
        "collectives": collectives.run,
        "estimate": estimate.run,
        "simulate": simulate.run,
        "page": partial(page.run, ROOT / "site"),
        "start": partial(start.run, rounds=5),
        "trace": partial(trace.run, ROOT / "site"),
    }
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=list(parts), default=list(parts))
    chosen = parser.parse_args().only
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in chosen:
        print(f"\n{name}", flush=True)
        found[name] = {
            "date": datetime.date.today().isoformat(),
            "machine": machine(),
            "load before": round(os.getloadavg()[0], 2),
            "numbers": parts[name](),
        }
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
