"""Limit on the processor time of an author's code: what never ends is told, not waited for."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Processor time, so that a busy machine stops nobody. The slowest calculator here takes a third.
SECONDS = 30.0


class TooSlowError(Exception):
    """Code that took longer than it may."""


@contextmanager
def time_limit(seconds: float = SECONDS) -> Iterator[None]:
    """Raise `TooSlowError` in the code of the block once it has used so much processor time.

    Only the main thread of a process can be stopped so, and not on Windows; elsewhere there is no
    limit.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not is_main:
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError(
            f"has computed for {seconds:g} seconds, which is the limit; is there a loop that never "
            "ends?"
        )

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
