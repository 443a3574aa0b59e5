"""A slower processor for a browser's pages: they are stopped for a share of each period.

The browser's own throttling reaches a page's main thread only, never a Worker. Stopping the whole
process slows every thread of it alike, those that compile WebAssembly included; the network
process keeps its speed.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

RUN = 0.005  # seconds a page runs at a time


def renderers(profile: Path) -> list[int]:
    """Return the page processes of the browser that uses this profile folder."""
    parents, commands = {}, {}
    for entry in Path("/proc").iterdir():
        try:
            commands[int(entry.name)] = (entry / "cmdline").read_text()
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            parents[int(entry.name)] = int(stat[1])
        except (ValueError, OSError):
            continue  # not a process, or one that has just ended
    ours = {pid for pid, text in commands.items() if f"--user-data-dir={profile}" in text}

    def descends(pid: int) -> bool:
        return pid in ours or (pid in parents and descends(parents[pid]))

    return [pid for pid, text in commands.items() if "--type=renderer" in text and descends(pid)]


def signaled(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):  # closed since it was listed
            os.kill(pid, number)


def cycle(profile: Path, times: int, done: threading.Event) -> None:
    """Stop and continue the pages in turn until `done`; they are left running."""
    pids, look_again = [], 0.0
    while not done.is_set():
        if time.monotonic() > look_again:
            pids, look_again = renderers(profile), time.monotonic() + 0.2
        signaled(pids, signal.SIGSTOP)
        time.sleep(RUN * (times - 1))
        signaled(pids, signal.SIGCONT)
        time.sleep(RUN)


@contextmanager
def slowed(profile: Path, times: int) -> Iterator[None]:
    """Let the pages of a browser run 1/`times` of the time while the block runs."""
    done = threading.Event()
    thread = threading.Thread(target=cycle, args=(profile, times, done))
    if times > 1:
        thread.start()
    try:
        yield
    finally:
        done.set()
        if times > 1:
            thread.join()
