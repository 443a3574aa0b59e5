"""Say what takes long, while it does; say nothing about what is quick."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str], None]
PATIENCE = 1.0  # seconds


@contextmanager
def step(report: Report, what: str) -> Iterator[None]:
    """Report `what` when it takes longer than a second, and how long it took."""
    told = threading.Event()

    def tell() -> None:
        told.set()
        report(f"{what} ...")

    timer = threading.Timer(PATIENCE, tell)
    timer.daemon = True
    began = time.perf_counter()
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if told.is_set():
        report(f"{what}: {time.perf_counter() - began:.1f} s")
