"""`python -m tests.mutants [--count 200] [--seed 1] [--room run] [--workers 2]`.

Seeds mutants drawn at random in copies of the tree, one at a time, runs for each the tests of its
room and name, and prints those that survive and the share that is noticed. Nothing in the tree
itself is touched.
"""

import argparse
import compileall
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from py_compile import PycInvalidationMode
from queue import Queue

from tests.mutants.faults import Fault, faults, seeded
from tests.mutants.first import FIRST
from tests.mutants.rooms import EVERY, ROOMS, ROOT, sources, tests_of

# Seconds of processor time, so that a busy machine takes no mutant for one that runs for ever.
PATIENCE = 120
COPIED = (
    *(".github", "builder", "content", "engine", "requirements", "tests", "theme"),
    *("build.py", "pyproject.toml", "site.toml", "README.md"),
)
PASSED = (0, 5)  # 5: none of the tests is about it
KILLED, SURVIVED, SLOW = "killed", "survived", "killed (time)"
FAILING = "not counted (its tests fail without it)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A fault in a module of a room."""

    room: str
    source: str
    fault: Fault

    def __str__(self) -> str:
        """Return it as editors and terminals expect a place: path:line: what is changed."""
        before = " ".join(self.fault.before.split())[:60]
        after = " ".join(self.fault.after.split())[:60]
        return f"{self.source}:{self.fault.line}: {before} -> {after}"


def drawn(rooms: list[str], count: int, seed: int) -> list[Mutant]:
    """Return as many mutants of each room, drawn at random among all faults of the room."""
    chance = random.Random(seed)
    shares = [count // len(rooms) + (index < count % len(rooms)) for index in range(len(rooms))]
    found = []
    for room, share in zip(rooms, shares, strict=True):
        there = [
            Mutant(room=room, source=source, fault=fault)
            for source in sources(room)
            for fault in faults((ROOT / source).read_text("utf-8"))
        ]
        found += chance.sample(there, min(share, len(there)))
    return found


def outcome(mutant: Mutant, tree: Path) -> str:
    """Return what became of a mutant in a copy of the tree."""
    path = tree / mutant.source
    text = path.read_text("utf-8")
    path.write_text(seeded(text, mutant.fault), "utf-8")
    try:
        noticed = next(filter(None, (_noticed(run, tree) for run in _runs(mutant.source))), None)
    finally:
        path.write_text(text, "utf-8")
    if noticed is None:
        return SURVIVED
    # What fails without the mutant, too, has not noticed it.
    if not _is_sound(noticed.by, tree):
        return FAILING
    return SLOW if noticed.slow else KILLED


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """By which arguments of pytest a mutant was noticed: one test, or all where time ran out."""

    by: tuple[str, ...]
    slow: bool


def _noticed(arguments: list[str], tree: Path) -> Notice | None:
    """Run tests until one fails; return how, or None if all pass."""
    first = tree / FIRST
    first.unlink(missing_ok=True)
    status = _status(arguments, tree)
    if status in PASSED:
        return None
    slow = status == -signal.SIGXCPU
    if slow or not first.exists():
        return Notice(by=tuple(arguments), slow=slow)
    return Notice(by=(first.read_text("utf-8"),), slow=False)


def _runs(source: str) -> Iterator[list[str]]:
    """Yield the arguments of each run of pytest, the quickest to notice first."""
    tests = tests_of(source)
    every = [path for path in EVERY if (ROOT / path).is_file()]
    if tests.calculators:
        chosen = " or ".join(f"[{name}]" for name in tests.calculators)
        yield [*reversed(every), "-k", chosen]
    if tests.files:
        yield list(tests.files)


@cache
def _is_sound(arguments: tuple[str, ...], tree: Path) -> bool:
    """Say whether tests pass in a tree without any mutant."""
    return _status(list(arguments), tree) in PASSED


def _status(arguments: list[str], tree: Path) -> int:
    plugins = ["-p", "no:cacheprovider", "-p", "tests.mutants.first"]
    command = [sys.executable, "-m", "pytest", "-x", "-q", *plugins, *arguments]
    return subprocess.run(
        command,
        cwd=tree,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        preexec_fn=_limited,
        check=False,
    ).returncode


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 10))


def copied(folder: Path) -> Path:
    """Return a copy of the tree in a folder."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    packages = ROOT / "theme" / "node_modules"
    if packages.exists():
        (folder / "theme" / "node_modules").symlink_to(packages.resolve())
    # Compiled once and held against the text: a mutant can be as long as what it stands for and be
    # put in and taken out within the second that a file's time tells.
    compileall.compile_dir(folder, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    return folder


def report(found: list[tuple[Mutant, str]]) -> None:
    """Print the share that was noticed, by room and together."""
    total, killed = Counter[str](), Counter[str]()
    for mutant, became in found:
        if became == FAILING:
            continue
        for room in (mutant.room, "all rooms"):
            total[room] += 1
            killed[room] += became != SURVIVED
    for room in total:
        share = 100 * killed[room] / total[room]
        print(f"{room}: {killed[room]} of {total[room]} noticed, {share:.0f} %")


def main(arguments: list[str]) -> None:
    """Draw, seed, run and report."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", choices=ROOMS, action="append", help="default: all")
    parser.add_argument("--workers", type=int, default=2, choices=(1, 2))
    given = parser.parse_args(arguments)
    mutants = drawn(given.room or list(ROOMS), given.count, given.seed)
    with tempfile.TemporaryDirectory() as scratch:
        trees: Queue[Path] = Queue()
        for index in range(given.workers):
            trees.put(copied(Path(scratch) / str(index)))

        def tried(mutant: Mutant) -> tuple[Mutant, str]:
            tree = trees.get()
            try:
                became = outcome(mutant, tree)
            finally:
                trees.put(tree)
            print(f"{became}: {mutant}", flush=True)
            return mutant, became

        with ThreadPoolExecutor(given.workers) as pool:
            found = list(pool.map(tried, mutants))
    report(found)


if __name__ == "__main__":
    main(sys.argv[1:])
