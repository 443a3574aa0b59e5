"""What several workers need is made by one of them."""

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 600.0  # seconds


def once(folder: Path, make: Callable[[Path], None], patience: float = PATIENCE) -> Path:
    """Return a folder that is filled by the first who asks for it; all others wait for that.

    Raises:
        RuntimeError: the first could not fill it, or has not within `patience` seconds.
    """
    done, failed = folder.with_suffix(".done"), folder.with_suffix(".failed")
    try:
        folder.mkdir()
    except FileExistsError:
        end = time.monotonic() + patience
        while not (done.exists() or failed.exists()) and time.monotonic() < end:
            time.sleep(0.05)
    else:
        try:
            make(folder)
        except BaseException:
            failed.touch()
            raise
        done.touch()
    if not done.exists():
        raise RuntimeError(f"{folder.name} was not finished by the worker that began it")
    return folder
