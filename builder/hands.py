"""Other processes for what a build does many times: one for each processor, and this one too."""

import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import TypeVar

Thing = TypeVar("Thing")
Made = TypeVar("Made")
_SHARES = 8  # parts of the work for each process, so that none waits long for another


class Hands:
    """Processes that have entered a project; none is started for little work.

    Nothing depends on which process made it. They are begun anew, not forked, since the builder
    has threads.
    """

    def __init__(self, root: Path, cache: Path) -> None:
        self._project = (root, cache)
        self._pool: ProcessPoolExecutor | None = None

    def each(
        self, make: Callable[[Thing], Made], things: Sequence[Thing], *, few: int
    ) -> list[Made]:
        """Return what is made of each thing, in their order; so `few` are made here."""
        others = _processors() - 1
        if len(things) <= few or not others:
            return [make(thing) for thing in things]
        size = -(-len(things) // (_SHARES * (others + 1)))
        parts = [things[at : at + size] for at in range(0, len(things), size)]
        try:
            return self._shared(make, parts, others)
        except BrokenExecutor:  # one was killed, or the machine has no memory for it
            self.close()
            return _all(make, things)

    def _shared(
        self, make: Callable[[Thing], Made], parts: Sequence[Sequence[Thing]], others: int
    ) -> list[Made]:
        """Return what is made of the parts: those in front by others, those at the end here.

        Nothing that was asked for is taken back: Python's pool stumbles over that where it breaks.
        """
        asked: list[Future[list[Made]]] = []
        here: list[list[Made]] = []
        while (left := len(parts) - len(asked) - len(here)) > 0:
            if sum(not one.done() for one in asked) < 2 * others:
                asked.append(self._begun(others).submit(_all, make, parts[len(asked)]))
            else:
                here.append(_all(make, parts[len(asked) + left - 1]))
        found = [one.result() for one in asked] + here[::-1]
        return [one for some in found for one in some]

    def close(self) -> None:
        """End the processes."""
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _begun(self, others: int) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                others, get_context("spawn"), initializer=_enter, initargs=self._project
            )
        return self._pool


def _processors() -> int:
    """Return how many processors this process may use, which may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _enter(root: Path, cache: Path) -> None:
    from builder.enter import enter

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the build hears it, and ends these
    threading.Thread(target=_end_with_build, daemon=True).start()
    enter(root, cache)


def _end_with_build() -> None:
    """End this process when the build is killed, of which it would not hear."""
    build = parent_process()
    if build:
        build.join()
        os._exit(1)


def _all(make: Callable[[Thing], Made], things: Sequence[Thing]) -> list[Made]:
    return [make(thing) for thing in things]
