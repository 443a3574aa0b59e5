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

Item = TypeVar("Item")
Result = TypeVar("Result")
_PARTS_PER_PROCESS = 24  # parts of the work for each process, so that none waits long for another
_PARTS_IN_FLIGHT = 2  # parts that another process has: the one that it makes, and the next


class ProcessPool:
    """Processes that have entered a project; none is started for little work.

    Nothing depends on which process made it. They are begun anew, not forked, since the builder
    has threads.
    """

    def __init__(self, initialize: Callable[[], object]) -> None:
        """Take what each process calls first, such as to enter the project."""
        self._enter = initialize
        self._pool: ProcessPoolExecutor | None = None

    def map(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, serial_limit: int
    ) -> list[Result]:
        """Return what is made of each thing, in their order; so `serial_limit` are made here."""
        others = _processor_count() - 1
        if len(items) <= serial_limit or not others:
            return [function(item) for item in items]
        size = -(-len(items) // (_PARTS_PER_PROCESS * (others + 1)))
        parts = [items[start : start + size] for start in range(0, len(items), size)]
        try:
            return self._map_parts(function, parts, others)
        except BrokenExecutor:  # one was killed, or the machine has no memory for it
            self.close()
            return _map_part(function, items)

    def _map_parts(
        self, function: Callable[[Item], Result], parts: Sequence[Sequence[Item]], others: int
    ) -> list[Result]:
        """Return what is made of the parts: those in front by others, those at the end here.

        However long a part takes here, the others are given the next. Nothing that was asked for is
        taken back: Python's pool stumbles over that where it breaks.
        """
        pending, results = deque(range(len(parts))), list[list[Result]]([[]] * len(parts))
        pool = self._executor(others)

        def submit_parts() -> None:
            try:
                while (at := _pop(pending.popleft)) is not None:
                    results[at] = pool.submit(_map_part, function, parts[at]).result()
            finally:
                pending.clear()  # where one part fails, no other is begun

        with ThreadPoolExecutor(_PARTS_IN_FLIGHT * others) as threads:
            futures = [threads.submit(submit_parts) for _ in range(_PARTS_IN_FLIGHT * others)]
            try:
                while (index := _pop(pending.pop)) is not None:
                    results[index] = _map_part(function, parts[index])
            finally:
                pending.clear()
        for future in futures:
            future.result()
        return [future for part in results for future in part]

    def close(self) -> None:
        """End the processes."""
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _executor(self, others: int) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                others,
                get_context("spawn"),
                initializer=_initialize_worker,
                initargs=(self._enter,),
            )
        return self._pool


def map_in_threads(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Return what is made of each thing, in their order, by threads of this process.

    For what Python leaves to others, such as to compress: the rest goes no faster.
    """
    if len(items) < 2:
        return _map_part(function, items)
    with ThreadPoolExecutor(_processor_count()) as threads:
        return list(threads.map(function, items))


def _processor_count() -> int:
    """Return how many processors this process may use, which may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _initialize_worker(initialize: Callable[[], object]) -> None:
    from builder.core.gc_tuning import reduce_gc_frequency

    reduce_gc_frequency()
    atexit.register(os._exit, 0)  # to take all that it has made apart would keep the build waiting
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the build hears it, and ends these
    threading.Thread(target=_exit_with_build, daemon=True).start()
    initialize()


def _exit_with_build() -> None:
    """End this process when the build is killed, of which it would not hear."""
    build = parent_process()
    if build:
        build.join()
        os._exit(1)


def _pop(pop: Callable[[], int]) -> int | None:
    """Return what is taken, None where nothing is left."""
    try:
        return pop()
    except IndexError:
        return None


def _map_part(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return [function(item) for item in items]
