"""The verb `serve`: local server that rebuilds on every change and reloads open pages."""

import argparse
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import watchfiles

from builder.core import node
from builder.core.folders import GENERATOR, INSTALLED, SCRIPTS
from builder.core.gc_tuning import reduce_gc_frequency
from builder.core.progress import Report
from builder.serve.local_server import ServedSite, start
from builder.serve.rebuilder import Rebuilder

THEME_FOLDERS = ("templates", "styles", "runtime", "fonts")
# Folder by folder, since the packages installed beside them are too many to watch; Python's own
# are found by their `__init__.py`.
WATCHED = ("content", *(f"theme/{n}" for n in THEME_FOLDERS))
# Files of folders that are not watched; an editor replaces them, which ends a watch of the file.
SINGLE_FILES = (
    "theme/words.toml",
    "theme/package.json",
    "theme/package-lock.json",
    *(f"theme/{name}" for name in SCRIPTS),
    "pyproject.toml",
    "site.toml",
)
POLL_MILLISECONDS = 700  # between two checks of single files


def run(root: Path, arguments: argparse.Namespace, report: Report) -> int:
    """Serve until interrupted; return the exit status."""
    site = ServedSite(script=Path(__file__).with_name("reload.js").read_bytes())
    try:
        server = start(site, arguments.port)
    except OSError as error:
        report(
            f"port {arguments.port} of 127.0.0.1 cannot be used ({error.strerror}); try --port 0"
        )
        return 2
    reduce_gc_frequency()
    # Of two saves within a second that are as long as each other, kept byte code shows the first.
    sys.dont_write_bytecode = True
    rebuilder = Rebuilder(root, arguments.repository, report)
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    report(f"building for {address} ...")
    rebuilder.build(site, set())
    report(f"serving {address} (Ctrl+C ends it)")
    rebuilder.prestart_compiler()
    stop = threading.Event()
    try:
        for changed in changes(root, stop):
            if "pyproject.toml" in {Path(path).name for path in changed}:
                report("pyproject.toml changed: start this again to install what it asks for now")
            rebuilder.build(site, changed)
            rebuilder.prestart_compiler()
    except KeyboardInterrupt:
        report("stopped")
    finally:
        stop.set()
        node.stop_prestarted()
        server.shutdown()
    return 0


def changes(root: Path, stop: threading.Event) -> Iterator[set[str]]:
    """Yield sets of paths of changed files."""
    roots = _roots(root)
    watched = [folder / name for folder in roots for name in WATCHED if (folder / name).is_dir()]
    watched += [path.parent for folder in roots for path in sorted(folder.glob("*/__init__.py"))]
    before = single_files(root)
    for events in watchfiles.watch(
        *watched,
        watch_filter=is_relevant_change,
        debounce=80,
        step=20,
        stop_event=stop,
        rust_timeout=POLL_MILLISECONDS,
        yield_on_timeout=True,
    ):
        now = single_files(root)
        changed = {path for _, path in events} | {path for path, _ in before ^ now}
        before = now
        if changed:
            yield changed


def _roots(root: Path) -> tuple[Path, ...]:
    """Return the root folders to watch; an installed generator does not change."""
    return tuple(dict.fromkeys((root, *(() if INSTALLED else (GENERATOR,)))))


def single_files(root: Path) -> set[tuple[str, bytes]]:
    """Return (path, content) of single files whose folders are not watched."""
    paths = (folder / name for folder in _roots(root) for name in SINGLE_FILES)
    return {(str(path), path.read_bytes()) for path in paths if path.is_file()}


def is_relevant_change(_: watchfiles.Change, path: str) -> bool:
    """Return whether a file can affect a page; editors' own files and byte code cannot."""
    name = Path(path).name
    return not name.startswith((".", "#")) and not name.endswith(("~", ".pyc", ".tmp"))
