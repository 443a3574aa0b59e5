"""How long a build takes: from nothing, and after one article changed."""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from builder import folders, services
from builder.memo import Memo
from builder.pipeline import Options, build

ROOT = Path(__file__).resolve().parents[2]
ARTICLE = Path("content/guides/gradient-sync-lab.md")
COPIED = ("build.py", "builder", "content", "engine", "theme", "pyproject.toml")


def copy(folder: Path) -> None:
    """Copy the project without anything it has built."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, symlinks=True)
        else:
            shutil.copy(source, folder)


def cold(folder: Path) -> float:
    """Return the seconds of `build.py build` with no cache (npm packages are there)."""
    for name in (".cache", "site"):
        shutil.rmtree(folder / name, ignore_errors=True)
    began = time.perf_counter()
    command = [sys.executable, "build.py", "build"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - began


def again(folder: Path, rounds: int) -> list[float]:
    """Return the seconds of a rebuild in a running process after each change of one article."""
    places, memo = folders.project(folder), Memo()
    makers = services.real(places.engine, places.theme, places.cache)
    taken = []
    for number in range(rounds + 1):
        article = folder / ARTICLE
        article.write_text(article.read_text("utf-8") + f"\nSentence {number}.\n", "utf-8")
        began = time.perf_counter()
        made = build(places, Options(), makers, memo, lambda _: None)
        memo = memo.next()
        taken.append(time.perf_counter() - began)
        assert not made.problems, made.problems
    return taken[1:]


def run() -> dict[str, object]:
    """Measure, print a table, return the numbers in seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy(folder)
        found = {
            "build from nothing, s": round(statistics.median(cold(folder) for _ in range(3)), 2),
            "rebuild after one article changed, s": round(statistics.median(again(folder, 5)), 3),
        }
    for label, value in found.items():
        goal = "   goal 0.5" if "one article" in label else ""
        print(f"{label:42}{value:>12}{goal}", flush=True)
    return found
