"""How long a build takes: from nothing, and after one article changed."""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARTICLE = "content/guides/gradient-sync-lab.md"
CALCULATOR = "engine/calculators/splitting_the_model/bubble_conventions.py"
PLAIN = """+++
title = "Plain {n}"
question = "How plain?"
summary = "Plain."
path = "Z Plain"
order = {n}
updated = 2026-01-01
minutes = 5
+++

{words}

## A section

{words}
"""
COPIED = (
    "build.py",
    "builder",
    "content",
    "engine",
    "pyproject.toml",
    "requirements",
    "site.toml",
    "theme",
)


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
    return built(folder)


SAVES = {
    "an article": (ARTICLE, "\nSentence {n}.\n", 0.5),
    "a style": ("theme/styles/20-page.css", "\n.bench-{n} {{ color: inherit; }}\n", 1.0),
    "a script": ("theme/runtime/page/announce.js", "\nexport const bench{n} = {n};\n", 1.0),
    "a comment in Python": ("engine/draw/view_json.py", "\n# {n}\n", 3.0),
    "a calculator": (CALCULATOR, "\nBENCH_{n} = {n}\n", 3.0),
    "a formula": ("engine/formulas/pipeline.py", "\nBENCH_{n} = {n}\n", 3.0),
}


def saves(folder: Path, rounds: int) -> dict[str, float]:
    """Return the seconds from a save to the pages being served anew, the median of each kind."""
    command = [sys.executable, "-u", "build.py", "serve", "--port", "0"]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert server.stdout
    try:
        _until(server.stdout, "serving ")
        found = {}
        for name, (path, text, _) in SAVES.items():
            taken = []
            for number in range(rounds):
                time.sleep(1)
                file = folder / path
                file.write_text(file.read_text("utf-8") + text.format(n=number), "utf-8")
                began = time.perf_counter()
                _until(server.stdout, "rebuilt ")
                taken.append(time.perf_counter() - began)
            found[name] = round(statistics.median(taken), 3)
        return found
    finally:
        server.terminate()
        server.wait()


def _until(lines: Iterable[str], begin: str) -> None:
    told = []
    for line in lines:
        told.append(line)
        if line.startswith(begin):
            return
    raise RuntimeError("".join(told))


def more(folder: Path, count: int) -> dict[str, float]:
    """Return what `count` more plain articles cost in seconds.

    What they add to a build from nothing, by one without and one with them; and a build that finds
    all but them made, and has to make every page that lists them.
    """
    words = " ".join(["Every rank sends its part to the next one."] * 60)
    without = cold(folder)
    for number in range(count):
        article = PLAIN.format(n=number, words=words)
        (folder / "content" / "guides" / f"plain-{number}.md").write_text(article, "utf-8")
    found = {f"{count} articles added to what is built": built(folder), "again": built(folder)}
    return {f"{count} more articles, from nothing": round(cold(folder) - without, 2), **found}


def built(folder: Path) -> float:
    """Return the seconds of `build.py build`."""
    began = time.perf_counter()
    command = [sys.executable, "build.py", "build"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return round(time.perf_counter() - began, 2)


def run() -> dict[str, object]:
    """Measure, print a table, return the numbers in seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy(folder)
        found = {
            "build from nothing": cold(folder),
            "build of nothing new": built(folder),
            **{f"{one} saved": seconds for one, seconds in saves(folder, 3).items()},
            **more(folder, 300),
        }
    goals = {f"{one} saved": goal for one, (*_, goal) in SAVES.items()}
    goals |= {"build from nothing": 20.0, "build of nothing new": 1.0}
    goals |= {"300 more articles, from nothing": 3.0, "again": 1.0}
    for label, value in found.items():
        goal = f"   goal {goals[label]}" if label in goals else ""
        print(f"{label:42}{value:>9.2f} s{goal}", flush=True)
    return dict(found)


if __name__ == "__main__":
    run()
