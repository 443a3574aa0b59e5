"""Serve the output from memory on 127.0.0.1, build again on every change, reload open pages."""

import argparse
import importlib
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import watchfiles

from builder.counts import count_of
from builder.folders import GENERATOR, INSTALLED, SCRIPTS, Folders
from builder.local_host import Host, start
from builder.progress import Report

RELOAD = "/_reload.js"
THEME = ("templates", "styles", "runtime", "fonts")
# Folder by folder, since the packages installed beside them are too many to watch; Python's own
# are found by their `__init__.py`.
WATCHED = ("content", *(f"theme/{n}" for n in THEME))
# Files of folders that are not watched; an editor replaces them, which ends a watch of the file.
LONE = (
    "theme/words.toml",
    "theme/package.json",
    "theme/package-lock.json",
    *(f"theme/{name}" for name in SCRIPTS),
    "pyproject.toml",
    "site.toml",
)
GLANCE = 700  # milliseconds between two looks at them
CODE = (".py", ".tsv")
AROUND, WIDEST = 2, 160  # lines shown around a problem, characters of each


def run(root: Path, given: argparse.Namespace, report: Report) -> int:
    """Serve until interrupted; return the exit status."""
    host = Host(script=Path(__file__).with_name("reload.js").read_bytes())
    try:
        server = start(host, given.port)
    except OSError as error:
        report(f"port {given.port} of 127.0.0.1 cannot be used ({error.strerror}); try --port 0")
        return 2
    builder = Rebuilder(root, given.repository, report)
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    report(f"building for {address} ...")
    builder.build(host, set())
    report(f"serving {address} (Ctrl+C ends it)")
    stop = threading.Event()
    try:
        for changed in changes(root, stop):
            if "pyproject.toml" in {Path(path).name for path in changed}:
                report("pyproject.toml changed: start this again to install what it asks for now")
            builder.build(host, changed)
    except KeyboardInterrupt:
        report("stopped")
    finally:
        stop.set()
        server.shutdown()
    return 0


def changes(root: Path, stop: threading.Event) -> Iterator[set[str]]:
    """Yield the paths of files that changed, whenever some did."""
    roots = _roots(root)
    watched = [one / name for one in roots for name in WATCHED if (one / name).is_dir()]
    watched += [path.parent for one in roots for path in sorted(one.glob("*/__init__.py"))]
    before = lone(root)
    for found in watchfiles.watch(
        *watched,
        watch_filter=wanted,
        debounce=80,
        step=20,
        stop_event=stop,
        rust_timeout=GLANCE,
        yield_on_timeout=True,
    ):
        now = lone(root)
        changed = {path for _, path in found} | {path for path, _ in before ^ now}
        before = now
        if changed:
            yield changed


def _roots(root: Path) -> tuple[Path, ...]:
    """Return the folders in which things may change; what was installed does not."""
    return tuple(dict.fromkeys((root, *(() if INSTALLED else (GENERATOR,)))))


def lone(root: Path) -> set[tuple[str, bytes]]:
    """Return (path, content) of the files whose folders are not watched."""
    paths = (one / name for one in _roots(root) for name in LONE)
    return {(str(path), path.read_bytes()) for path in paths if path.is_file()}


def wanted(_: watchfiles.Change, path: str) -> bool:
    """Say whether a change of this file can change a page: not an editor's own, no byte code."""
    name = Path(path).name
    return not name.startswith((".", "#")) and not name.endswith(("~", ".pyc", ".tmp"))


class Rebuilder:
    """Holds what earlier builds made; reads all code of ours again when any of it changes.

    What was made is remembered by the code that made it, so an edit remakes only what it concerns.
    """

    def __init__(self, root: Path, repository: str, report: Report) -> None:
        self.root, self.repository, self.report = root, repository, report
        self.memo: Any = None
        self.package = ""
        self.places: Folders | None = None
        self.before: Mapping[str, bytes] = {}

    def build(self, host: Host, changed: set[str]) -> None:
        """Build, hand the result to the host, and say what was rebuilt and how long it took."""
        began = time.perf_counter()
        try:
            output, problems = self._built(changed)
        except Exception:  # an error in the engine or a template: shown, the last good pages stay
            problems, output = [traceback.format_exc(limit=-4)], {}
        took = time.perf_counter() - began
        if problems:
            for problem in problems:
                self.report(str(problem))
            host.show_problems([quoted(self.root, problem) for problem in problems])
            count = count_of(len(problems), "problem")
            self.report(f"{count}, {took:.2f} s; the last good pages stay")
            return
        pages = sorted(n for n, data in output.items() if data != self.before.get(n))
        self.before = output
        host.publish(output, pages)
        html = [name for name in pages if name.endswith(".html")]
        shown = ", ".join(html) if 0 < len(html) < 4 else f"{len(html)} pages"
        self.report(f"rebuilt {shown}, {len(pages)} files in all, {took:.2f} s")

    def _built(self, changed: set[str]) -> tuple[Mapping[str, bytes], list[Any]]:
        kept = self.memo.kept() if self.memo else None
        if any(Path(path).suffix in CODE for path in changed):
            forget(("engine", "builder", self.package))
            self.memo = self.places = None
        enter, memo, options, pipeline, project_file, services = (
            importlib.import_module(f"builder.{name}")
            for name in ("enter", "memo", "options", "pipeline", "project_file", "services")
        )
        try:
            places = self._places(enter, changed)
        except project_file.ProjectError as error:
            return {}, list(error.problems)
        makers = services.of(places)
        self.package = places.project.engine
        given = options.Options(
            repository=self.repository or places.project.repository, drafts=True, reload=RELOAD
        )
        if self.memo:
            memory = self.memo.next()
        else:
            memory = memo.load(memo.place(places)) if kept is None else memo.Memo(kept)
        built = pipeline.build(places, given, makers, memory, self.report)
        if kept is None:
            memory.save(memo.place(places))
        self.memo = memory
        return built.output, list(built.problems)

    def _places(self, enter: Any, changed: set[str]) -> Folders:  # noqa: ANN401 (a module)
        """Return the folders of the project, entered again unless only its texts have changed."""
        texts = str(self.root / "content") + os.sep
        if self.places is None or not all(path.startswith(texts) for path in changed):
            self.places = None  # what cannot be entered is tried again
            self.places = enter.enter(self.root)
        return self.places


def quoted(root: Path, problem: Any) -> str:  # noqa: ANN401 (of this code or of what was read again)
    """Return a problem with the lines of the file that it is about."""
    said = str(problem)
    file = root / getattr(problem, "path", "")
    if not file.is_file():
        return said
    lines = file.read_text("utf-8", errors="replace").splitlines()
    shown = range(max(1, problem.line - AROUND), min(len(lines), problem.line + AROUND) + 1)
    marks = (f"{'>' if number == problem.line else ' '} {number:>4} | " for number in shown)
    texts = (lines[number - 1][:WIDEST] for number in shown)
    return "\n".join((said, *(mark + text for mark, text in zip(marks, texts, strict=True)), ""))


def forget(packages: tuple[str, ...]) -> None:
    """Make the next import of these packages read their files again; this module stays."""
    for name in list(sys.modules):
        if name.partition(".")[0] in packages and name not in (__name__, "builder.local_host"):
            del sys.modules[name]
    importlib.invalidate_caches()
