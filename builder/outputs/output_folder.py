"""Write the output folder: whole or not at all."""

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
MARK = ".nojekyll"  # every output has it; a folder of anybody else's hardly does


def is_ours(target: Path) -> bool:
    """Say whether the folder may be replaced: it is not there, empty, or an earlier output."""
    if not target.exists():
        return True
    return target.is_dir() and ((target / MARK).exists() or not any(target.iterdir()))


def swap_in(target: Path, output: Mapping[str, bytes]) -> None:
    """Make `target` hold exactly the files in `output` (path inside it -> content).

    The files are written to a folder beside it, which then takes its name, so that nobody sees
    half of it and a failure leaves the old one. Unchanged files are linked, which keeps their date.
    """
    new, old = (target.with_name(f".{target.name}-{which}") for which in ("new", "old"))
    target.parent.mkdir(parents=True, exist_ok=True)
    with _alone(target.parent):
        _heal(target, new, old)
        try:
            new.mkdir()
            for name, content in output.items():
                _write(new / name, content, target / name)
            _swap(new, target, old)
        finally:
            shutil.rmtree(new, ignore_errors=True)
            shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time write here; the lock ends with the process, however that ends."""
    if sys.platform == "win32":
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _heal(target: Path, new: Path, old: Path) -> None:
    """Clear away what a build left that was killed, perhaps between two renames."""
    if old.exists() and not target.exists():
        old.rename(target)
    for left in (new, old):
        if left.exists():
            shutil.rmtree(left)


def _swap(new: Path, target: Path, old: Path) -> None:
    if not target.exists():
        new.rename(target)
        return
    if _exchanged(new, target):  # at no moment is there no site
        return
    target.rename(old)
    try:
        new.rename(target)
    except OSError:
        old.rename(target)
        raise


def _exchanged(one: Path, other: Path) -> bool:
    """Say whether two folders could be exchanged in one step, as Linux can."""
    exchange = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    if exchange is None:
        return False
    return bool(exchange(AT_FDCWD, bytes(one), AT_FDCWD, bytes(other), EXCHANGE) == 0)


def _write(path: Path, content: bytes, before: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not (before.is_file() and before.read_bytes() == content):
        path.write_bytes(content)
        return
    try:
        os.link(before, path)
    except OSError:  # a file system without hard links
        shutil.copy2(before, path)
