"""Parallel map over worker processes, one for each further processor, and this process."""

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
_PARTS_PER_PROCESS = 24  # per process, so that no process waits long for another
_PARTS_IN_FLIGHT = 2  # per worker: the part in work, and the next


class ProcessPool:
    """Worker processes with an activated project, started only for enough work.

    Results do not depend on the process that computes them. Workers are spawned, not forked, since
    the builder has threads.
    """

    def __init__(self, initialize: Callable[[], object]) -> None:
        """Create the pool; `initialize` runs first in each worker and activates the project."""
        self._initialize = initialize
        self._executor: ProcessPoolExecutor | None = None

    def map(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, serial_limit: int
    ) -> list[Result]:
        """Return the function's results in order; up to `serial_limit` items are computed here."""
        others = _processor_count() - 1
        if len(items) <= serial_limit or not others:
            return [function(item) for item in items]
        size = -(-len(items) // (_PARTS_PER_PROCESS * (others + 1)))
        parts = [items[start : start + size] for start in range(0, len(items), size)]
        try:
            return self._map_parts(function, parts, others)
        except BrokenExecutor:  # a worker was killed, or memory ran out
            self.close()
            return _map_part(function, items)

    def _map_parts(
        self, function: Callable[[Item], Result], parts: Sequence[Sequence[Item]], others: int
    ) -> list[Result]:
        """Return the parts' results: workers take parts from the front, this process from the end.

        Threads submit parts, so that workers get the next part however long a part takes here. No
        submitted part is canceled: Python's pool fails on that when a worker dies.
        """
        pending, results = deque(range(len(parts))), list[list[Result]]([[]] * len(parts))
        pool = self._get_executor(others)

        def submit_parts() -> None:
            try:
                while (index := _pop(pending.popleft)) is not None:
                    results[index] = pool.submit(_map_part, function, parts[index]).result()
            finally:
                pending.clear()  # after a failure no other part is started

        with ThreadPoolExecutor(_PARTS_IN_FLIGHT * others) as threads:
            futures = [threads.submit(submit_parts) for _ in range(_PARTS_IN_FLIGHT * others)]
            try:
                while (index := _pop(pending.pop)) is not None:
                    results[index] = _map_part(function, parts[index])
            finally:
                pending.clear()
        for future in futures:
            future.result()
        return [result for part in results for result in part]

    def close(self) -> None:
        """Stop the worker processes."""
        if self._executor:
            self._executor.shutdown(cancel_futures=True)
            self._executor = None

    def _get_executor(self, others: int) -> ProcessPoolExecutor:
        if self._executor is None:
            self._executor = ProcessPoolExecutor(
                others,
                get_context("spawn"),
                initializer=_initialize_worker,
                initargs=(self._initialize,),
            )
        return self._executor


def map_in_threads(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Return the function's results in order, computed by threads of this process.

    Only for functions that release the interpreter lock, such as compression.
    """
    if len(items) < 2:
        return _map_part(function, items)
    with ThreadPoolExecutor(_processor_count()) as threads:
        return list(threads.map(function, items))


def _processor_count() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _initialize_worker(initialize: Callable[[], object]) -> None:
    from builder.core.gc_tuning import reduce_gc_frequency

    reduce_gc_frequency()
    atexit.register(os._exit, 0)  # freeing all objects would keep the build waiting
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the build handles it and stops the workers
    threading.Thread(target=_exit_with_build, daemon=True).start()
    initialize()


def _exit_with_build() -> None:
    """Exit this worker when the build process dies."""
    build = parent_process()
    if build:
        build.join()
        os._exit(1)


def _pop(pop: Callable[[], int]) -> int | None:
    """Return the popped index, None if the queue is empty."""
    try:
        return pop()
    except IndexError:
        return None


def _map_part(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return [function(item) for item in items]
