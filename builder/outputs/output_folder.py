"""Writes the output folder atomically."""

import ctypes
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

AT_FDCWD, EXCHANGE = -100, 2  # of Linux's renameat2
OUTPUT_MARKER = ".nojekyll"  # file that marks a folder as an output of the builder


def is_replaceable(target: Path) -> bool:
    """Say whether the folder may be replaced: it is missing, empty or an earlier output."""
    if not target.exists():
        return True
    return target.is_dir() and ((target / OUTPUT_MARKER).exists() or not any(target.iterdir()))


def replace_output(target: Path, output: Mapping[str, bytes]) -> None:
    """Replace the content of `target` by the files in `output` (path inside it -> content).

    The files are written to a new folder, which then takes the target's name, so a partial output
    is never visible and a failure leaves the old one. Unchanged files are hard-linked, which keeps
    their date.
    """
    new, old = (target.with_name(f".{target.name}-{which}") for which in ("new", "old"))
    target.parent.mkdir(parents=True, exist_ok=True)
    with _locked(target.parent):
        _clean_up(target, new, old)
        try:
            new.mkdir()
            for name, content in output.items():
                _write(new / name, content, target / name)
            _swap(new, target, old)
        finally:
            shutil.rmtree(new, ignore_errors=True)
            shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on the folder; it ends with the process, however that ends."""
    if sys.platform == "win32":
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _clean_up(target: Path, new: Path, old: Path) -> None:
    """Remove the temporary folders of a killed build, and restore an output caught in a swap."""
    if old.exists() and not target.exists():
        old.rename(target)
    for folder in (new, old):
        if folder.exists():
            shutil.rmtree(folder)


def _swap(new: Path, target: Path, old: Path) -> None:
    if not target.exists():
        new.rename(target)
        return
    if _exchange(new, target):  # the site exists at every moment
        return
    target.rename(old)
    try:
        new.rename(target)
    except OSError:
        old.rename(target)
        raise


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two folders atomically; return whether the system can (Linux only)."""
    exchange = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    if exchange is None:
        return False
    return bool(exchange(AT_FDCWD, bytes(first), AT_FDCWD, bytes(second), EXCHANGE) == 0)


def _write(path: Path, content: bytes, before: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not (before.is_file() and before.read_bytes() == content):
        path.write_bytes(content)
        return
    try:
        os.link(before, path)
    except OSError:  # a file system without hard links
        shutil.copy2(before, path)
