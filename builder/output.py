"""Write the output folder: whole or not at all."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

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
    new = target.with_name(f".{target.name}-new-{os.getpid()}")
    old = target.with_name(f".{target.name}-old-{os.getpid()}")
    try:
        new.mkdir(parents=True)
        for name, content in output.items():
            _write(new / name, content, target / name)
        if target.exists():
            target.rename(old)
        try:
            new.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _write(path: Path, content: bytes, before: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not (before.is_file() and before.read_bytes() == content):
        path.write_bytes(content)
        return
    try:
        os.link(before, path)
    except OSError:  # a file system without hard links
        shutil.copy2(before, path)
