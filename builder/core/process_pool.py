"""Other processes for what a build does many times: one for each processor, and this one too."""

import atexit
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context, parent_process
from typing import TypeVar

Thing = TypeVar("Thing")
Made = TypeVar("Made")
_SHARES = 24  # parts of the work for each process, so that none waits long for another
_AHEAD = 2  # parts that another process has: the one that it makes, and the next


class ProcessPool:
    """Processes that have entered a project; none is started for little work.

    Nothing depends on which process made it. They are begun anew, not forked, since the builder
    has threads.
    """

    def __init__(self, enter: Callable[[], object]) -> None:
        """Take what each process calls first, such as to enter the project."""
        self._enter = enter
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

        However long a part takes here, the others are given the next. Nothing that was asked for is
        taken back: Python's pool stumbles over that where it breaks.
        """
        waiting, made = deque(range(len(parts))), list[list[Made]]([[]] * len(parts))
        pool = self._begun(others)

        def give() -> None:
            try:
                while (at := _taken(waiting.popleft)) is not None:
                    made[at] = pool.submit(_all, make, parts[at]).result()
            finally:
                waiting.clear()  # where one part fails, no other is begun

        with ThreadPoolExecutor(_AHEAD * others) as givers:
            given = [givers.submit(give) for _ in range(_AHEAD * others)]
            try:
                while (at := _taken(waiting.pop)) is not None:
                    made[at] = _all(make, parts[at])
            finally:
                waiting.clear()
        for one in given:
            one.result()
        return [one for some in made for one in some]

    def close(self) -> None:
        """End the processes."""
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _begun(self, others: int) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                others, get_context("spawn"), initializer=_begin, initargs=(self._enter,)
            )
        return self._pool


def at_once(make: Callable[[Thing], Made], things: Sequence[Thing]) -> list[Made]:
    """Return what is made of each thing, in their order, by threads of this process.

    For what Python leaves to others, such as to compress: the rest goes no faster.
    """
    if len(things) < 2:
        return _all(make, things)
    with ThreadPoolExecutor(_processors()) as threads:
        return list(threads.map(make, things))


def _processors() -> int:
    """Return how many processors this process may use, which may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _begin(enter: Callable[[], object]) -> None:
    from builder.core.gc_tuning import look_seldom

    look_seldom()
    atexit.register(os._exit, 0)  # to take all that it has made apart would keep the build waiting
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the build hears it, and ends these
    threading.Thread(target=_end_with_build, daemon=True).start()
    enter()


def _end_with_build() -> None:
    """End this process when the build is killed, of which it would not hear."""
    build = parent_process()
    if build:
        build.join()
        os._exit(1)


def _taken(take: Callable[[], int]) -> int | None:
    """Return what is taken, None where nothing is left."""
    try:
        return take()
    except IndexError:
        return None


def _all(make: Callable[[Thing], Made], things: Sequence[Thing]) -> list[Made]:
    return [make(thing) for thing in things]
